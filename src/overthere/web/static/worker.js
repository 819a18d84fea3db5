// The library in the page itself: Python by Pyodide, the plain kernel, and the same templates as on a server.
import { loadPyodide } from "../pyodide/pyodide.mjs";

const loading = (async () => {
  const [python, site] = await Promise.all([
    loadPyodide({ indexURL: new URL("../pyodide/", import.meta.url).href }),
    fetch(new URL("../site.zip", import.meta.url)).then((response) => {
      if (!response.ok) throw new Error(`site.zip: ${response.status}`);
      return response.arrayBuffer();
    }),
  ]);
  python.unpackArchive(site, "zip", { extractDir: "/site" });
  return python.runPython(`
import sys
sys.path.insert(0, "/site")
from overthere.web.pages import part
part
`);
})();

self.onmessage = async ({ data: { number, view, given } }) => {
  try {
    const part = await loading;
    self.postMessage({ number, html: part(view, JSON.stringify(given)) });
  } catch (error) {
    self.postMessage({ number, error: String(error.message || error).trim().split("\n").pop() });
  }
};
