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
  const paper = theme === "dark" ? "#161310" : "#fcfaf6";
  document.querySelector('meta[name="theme-color"]').setAttribute("content", paper);
})();
