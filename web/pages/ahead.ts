// Fetches ahead the small parts that may have to be shown once there is no daemon to fetch them from. Where a
// service worker keeps the app they are there anyway; elsewhere the browser has them from here.

/** Rejects if one could not be had. */
export async function loadAhead(): Promise<void> {
  await Promise.all([
    import("./frame/notices.tsx"),
    import("./session/problem-text.tsx"),
    import("./session/prompt-editor.tsx"),
    import("./session/queue.tsx"),
    import("./session/read-only.tsx"),
    import("./session/refused-card.tsx"),
    import("./session/request-end.tsx"),
  ]);
}
