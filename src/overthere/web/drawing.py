"""SVG drawings: the figure of RFC 3986 3, and layered automata; their colours are in the style sheet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markupsafe import Markup

from overthere.anatomy import Explanation
from overthere.web.views.grammar import Machine, Move, State

_WIDTH = 72
"""Columns of the figure."""
_CELL = 9.6
_LINE = 21
_PART = Markup(
    '<g class="c c-{name}" data-c="{name}"><text x="{x:.1f}" y="20" textLength="{wide:.1f}" '
    'lengthAdjust="spacingAndGlyphs" xml:space="preserve">{text}</text><path class="brace" d="{brace}"/></g>'
)
_BETWEEN = Markup(
    '<text class="delimiter" x="{x:.1f}" y="20" textLength="{wide:.1f}" lengthAdjust="spacingAndGlyphs" '
    'xml:space="preserve">{text}</text>'
)
_NAME = Markup(
    '<g class="c c-{name}" data-c="{name}"><path class="leader" d="M{x:.1f} 40V{top:.1f}"/>'
    '<text class="name" x="{start:.1f}" y="{y:.1f}" textLength="{wide:.1f}" lengthAdjust="spacingAndGlyphs">'
    "{name}</text></g>"
)


def figure(explanation: Explanation) -> Markup:
    """Draw the figure: each component with a brace below it, and its name."""
    pieces, labels, _ = explanation.layout(_WIDTH)
    if not pieces:
        return Markup("")
    parts = [
        _BETWEEN.format(x=piece.column * _CELL, wide=piece.columns * _CELL, text=piece.text)
        if piece.name is None
        else _PART.format(
            name=piece.name, x=piece.column * _CELL, wide=piece.columns * _CELL, text=piece.text,
            brace=_brace(piece.column * _CELL, piece.columns * _CELL),
        )
        for piece in pieces
        if piece.columns
    ]  # fmt: skip
    for label in labels:
        y = 60 + label.row * _LINE
        parts.append(
            _NAME.format(
                name=label.name, x=(label.centre + 0.5) * _CELL, top=y - 13, start=label.start * _CELL, y=y,
                wide=len(label.name) * _CELL,
            )
        )  # fmt: skip
    width = max([piece.column + piece.columns for piece in pieces] + [label.end for label in labels])
    height = 68 + _LINE * max((label.row for label in labels), default=-1)
    component_texts = [f"{piece.name}: {piece.text or 'empty'}" for piece in pieces if piece.name is not None]
    description = "The figure of RFC 3986 section 3. " + "; ".join(component_texts)
    return Markup(
        '<svg class="figure" viewBox="-2 0 {:.1f} {}" width="{:.0f}" height="{}" role="img" aria-label="{}">{}</svg>'
    ).format(width * _CELL + 4, height, width * _CELL + 4, height, description, Markup("").join(parts))


def _brace(x: float, width: float) -> str:
    left, right, middle = x + 1, x + width - 1, x + width / 2
    if width < 2 * _CELL:
        return f"M{middle:.1f} 27V40"
    bend = min(5.0, (right - left) / 4)
    return (
        f"M{left:.1f} 27Q{left:.1f} 33 {left + bend:.1f} 33H{middle - bend:.1f}Q{middle:.1f} 33 {middle:.1f} 40"
        f"Q{middle:.1f} 33 {middle + bend:.1f} 33H{right - bend:.1f}Q{right:.1f} 33 {right:.1f} 27"
    )


# -- automata

_LAYER_WIDTH, _ROW_HEIGHT, _RADIUS, _ARC_HEIGHT = 132, 74, 15, 34
_NODE = Markup(
    '<g class="state{more}"><circle cx="{x}" cy="{y}" r="{r}"/>{inner}<text x="{x}" y="{ty}">{number}</text></g>'
)
_EDGE = Markup(
    '<g class="move{more}"><path d="{path}" marker-end="url(#{head})"/>'
    '<text x="{x:.0f}" y="{y:.0f}">{label}<title>{whole}</title></text></g>'
)
_HEAD = (
    '<marker id="{0}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'markerUnits="userSpaceOnUse" orient="auto"><path class="{0}" d="M0 0L8 4L0 8z"/></marker>'
)
_HEADS = Markup("<defs>" + _HEAD.format("head") + _HEAD.format("head-taken") + "</defs>")
_LABEL = 20
"""Maximum characters of a label; the full text is its title."""


def automaton(machine: Machine) -> Markup:
    """Draw the states in layers by their distance from the start, and the moves between them."""
    places = _places(machine.nodes, machine.moves)
    move_pairs = {(move.origin, move.target) for move in machine.moves}
    middle = (min(y for _, y in places.values()) + max(y for _, y in places.values())) / 2
    edges = [_edge(move, places, middle, (move.target, move.origin) in move_pairs) for move in machine.moves]
    nodes = [_node(state, *places[state.number]) for state in machine.nodes]
    x, y = places[machine.start]
    arrow = Markup('<path class="start" d="M{} {}H{}" marker-end="url(#head)"/>').format(x - 44, y, x - _RADIUS - 1)
    right = max(x for x, _ in places.values()) + 60
    bottom = max(y for _, y in places.values()) + 40 + 26 * max(0, _deepest_arc(machine.moves, places))
    description = f"The automaton of {machine.rule}: {machine.states} states; its moves are in the table below."
    return Markup(
        '<svg class="automaton" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{description}">'
        "{heads}{arrow}{edges}{nodes}</svg>"
    ).format(
        w=right, h=bottom, description=description, heads=_HEADS, arrow=arrow,
        edges=Markup("").join(edges), nodes=Markup("").join(nodes),
    )  # fmt: skip


def _places(nodes: Sequence[State], moves: Sequence[Move]) -> dict[int, tuple[int, int]]:
    """Return the position of each state: its layer gives x, its row y, near the mean row of its neighbours."""
    layers: defaultdict[int, list[int]] = defaultdict(list)
    layer_of = _layers(nodes, moves)
    for number, layer_number in layer_of.items():
        layers[layer_number].append(number)
    skipped_layers = max((layer_of[move.target] - layer_of[move.origin] - 1 for move in moves), default=0)
    neighbours: defaultdict[int, list[int]] = defaultdict(list)
    for move in moves:
        if move.origin != move.target:
            neighbours[move.origin].append(move.target)
            neighbours[move.target].append(move.origin)
    row = {number: float(i) - (len(layer) - 1) / 2 for layer in layers.values() for i, number in enumerate(layer)}
    for _ in range(6):
        for layer in layers.values():
            layer.sort(key=lambda number: sum(row[n] for n in neighbours[number]) / max(1, len(neighbours[number])))
            for i, number in enumerate(layer):
                row[number] = i - (len(layer) - 1) / 2
    middle = -min(row.values())
    loops = any(move.origin == move.target for move in moves)
    top = max(72 if loops else 40, 40 + round(0.75 * _ARC_HEIGHT * skipped_layers))
    return {
        number: (62 + distance * _LAYER_WIDTH, round(top + (row[number] + middle) * _ROW_HEIGHT))
        for distance, layer in layers.items()
        for number in layer
    }


def _layers(nodes: Sequence[State], moves: Sequence[Move]) -> dict[int, int]:
    """Return the layer of each state: the length of the longest path to it, without back edges."""
    targets: defaultdict[int, list[int]] = defaultdict(list)
    for move in moves:
        targets[move.origin].append(move.target)
    finished: list[int] = []
    visited: set[int] = set()
    back_edges: set[tuple[int, int]] = set()
    path: dict[int, Iterator[int]] = {}
    start = nodes[0].number
    path[start] = iter(targets[start])
    visited.add(start)
    while path:
        state = next(reversed(path))
        for target in path[state]:
            if target in path:
                back_edges.add((state, target))
            elif target not in visited:
                visited.add(target)
                path[target] = iter(targets[target])
                break
        else:
            del path[state]
            finished.append(state)
    layer = dict.fromkeys(finished, 0)
    for state in reversed(finished):  # each state before those that it leads to
        for target in targets[state]:
            if (state, target) not in back_edges:
                layer[target] = max(layer[target], layer[state] + 1)
    return layer


def _deepest_arc(moves: Sequence[Move], places: dict[int, tuple[int, int]]) -> int:
    """Return the depth of the deepest arc, in layers."""
    return max((abs(places[m.origin][0] - places[m.target][0]) // _LAYER_WIDTH - 1 for m in moves), default=0)


def _node(state: State, x: int, y: int) -> Markup:
    inner = Markup('<circle cx="{}" cy="{}" r="{}"/>').format(x, y, _RADIUS - 3) if state.accepting else ""
    return _NODE.format(
        more=" visited" if state.visited else "", x=x, y=y, r=_RADIUS, inner=inner, ty=y + 4, number=state.number
    )


def _edge(move: Move, places: dict[int, tuple[int, int]], middle: float, both: bool) -> Markup:
    (x, y), (to_x, to_y) = places[move.origin], places[move.target]
    layers = (to_x - x) // _LAYER_WIDTH
    if move.origin == move.target:
        path = f"M{x - 7} {y - _RADIUS + 1}C{x - 26} {y - 52} {x + 26} {y - 52} {x + 7} {y - _RADIUS + 1}"
        xy: tuple[float, float] = (x, y - 44)
    elif layers > 0:
        # A move that skips a layer goes around it, above or below.
        side = 1 if y + to_y > 2 * middle else -1
        bow = 0 if layers == 1 and not both else side * (10 + _ARC_HEIGHT * layers)
        path = f"M{x + _RADIUS} {y}C{x + 60} {y + bow} {to_x - 60} {to_y + bow} {to_x - _RADIUS - 1} {to_y}"
        # Near its beginning, where moves of one state are apart.
        share = 0.5 if layers == 1 else 0.4
        xy = _curve_point(share, (x + _RADIUS, y), (x + 60, y + bow), (to_x - 60, to_y + bow), (to_x - _RADIUS, to_y))
        xy = xy[0], xy[1] - 5
    elif layers == 0:
        side = 1 if to_y > y else -1
        path = f"M{x + 6} {y + side * (_RADIUS - 1)}C{x + 34} {y + side * 30} {to_x + 34} {to_y - side * 30} " \
               f"{to_x + 6} {to_y - side * _RADIUS}"  # fmt: skip
        xy = x + 34, (y + to_y) / 2
    else:
        bottom = max(y, to_y) + 34 + 14 * -layers
        path = f"M{x - 5} {y + _RADIUS - 1}C{x - 20} {bottom} {to_x + 20} {bottom} {to_x + 5} {to_y + _RADIUS}"
        xy = (x + to_x) / 2, max(y, to_y) + 22 + 10 * -layers
    label = move.characters if len(move.characters) <= _LABEL else f"{move.characters[: _LABEL - 1]}…"
    taken = move.taken
    return _EDGE.format(
        more=" taken" if taken else "", path=path, head="head-taken" if taken else "head", x=xy[0], y=xy[1],
        label=label, whole=move.characters,
    )  # fmt: skip


def _curve_point(share: float, *points: tuple[float, float]) -> tuple[float, float]:
    """Return a point of a Bézier curve."""
    rest_points = list(points)
    while len(rest_points) > 1:
        rest_points = [(a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share) for a, b in pairwise(rest_points)]
    return rest_points[0]
