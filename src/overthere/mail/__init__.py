"""Message parsing (RFC 5322; RFC 2045 to 2047), for mid: and cid: and for the main job."""
