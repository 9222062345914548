// Applies the chosen theme before the first paint. The page's own code follows changes later.
(() => {
  let theme = "system";
  try {
    theme = localStorage.getItem("troupe.theme") ?? theme;
  } catch {
    // Storage is forbidden: the system's theme it is.
  }
  if (theme !== "light" && theme !== "dark") {
    theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  document.documentElement.dataset.theme = theme;
})();
