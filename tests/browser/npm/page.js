// What the test says about the page, and how a component loads the script: once for all visits by the page itself, or
// for every visit with a checkout of its own.
export const facts = JSON.parse(document.getElementById("facts").textContent);

export function addScript(visit) {
  if (!facts.scripts.length) {
    return undefined;
  }
  const script = document.createElement("script");
  script.src = facts.scripts[visit];
  document.head.append(script);
  return () => {
    script.remove();
    window.wpwl?.unload();
  };
}
