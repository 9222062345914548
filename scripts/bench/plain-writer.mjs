// Rows written straight into IndexedDB: what the browser itself takes, with nothing of ours in between.

/**
 * Runs in the page: fetches rows from `rowsAt` and has a worker write them, one record each, a page of
 * the feed in each transaction. Resolves with the milliseconds that the writing took.
 * @param {string} rowsAt
 * @returns {Promise<number>}
 */
export function writePlainly(rowsAt) {
  async function work(origin) {
    const ROWS_PER_TRANSACTION = 512;
    const KINDS = ["session", "request", "turn", "toolResult"];
    const rows = await (await fetch(origin)).json();
    const opening = indexedDB.open("plain", 1);
    opening.onupgradeneeded = () => {
      for (const kind of KINDS) opening.result.createObjectStore(kind);
    };
    await new Promise((resolve) => {
      opening.onsuccess = resolve;
    });
    const db = opening.result;
    const begun = performance.now();
    for (let at = 0; at < rows.length; at += ROWS_PER_TRANSACTION) {
      const tx = db.transaction(KINDS, "readwrite", { durability: "relaxed" });
      for (const row of rows.slice(at, at + ROWS_PER_TRANSACTION)) {
        tx.objectStore(row.kind).put(row, [row.sessionId, row.id]);
      }
      await new Promise((resolve, reject) => {
        tx.oncomplete = resolve;
        tx.onabort = () => reject(tx.error);
      });
    }
    postMessage(performance.now() - begun);
    db.close();
  }
  const code = `(${work})(${JSON.stringify(rowsAt)}).catch((error) => postMessage(String(error)))`;
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const worker = new Worker(url);
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      worker.terminate();
      URL.revokeObjectURL(url);
      if (typeof data === "number") resolve(data);
      else reject(new Error(data));
    };
  });
}
