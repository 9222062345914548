import { describe, expect, it } from "vitest";
import { type NodeMaker, type ParsedNode, remake } from "./safe-html.ts";

const XHTML = "http://www.w3.org/1999/xhtml";

const text = (value: string): ParsedNode => ({ nodeType: 3, nodeValue: value, childNodes: [] });

function element(
  localName: string,
  attributes: Record<string, string> = {},
  childNodes: ParsedNode[] = [],
  namespaceURI: string = XHTML,
): ParsedNode {
  return {
    nodeType: 1,
    nodeValue: null,
    localName,
    namespaceURI,
    childNodes,
    attributes: Object.entries(attributes).map(([name, value]) => ({ name, value })),
  };
}

const writer: NodeMaker<string> = {
  text: (value) => value,
  element: (name, attributes, children) => {
    const written = [...attributes]
      .map(([attribute, value]) => ` ${attribute}="${value}"`)
      .join("");
    return `<${name}${written}>${children.join("")}</${name}>`;
  },
};

const made = (node: ParsedNode) => remake(node, writer);

describe("remake", () => {
  it("makes what the renderer emits anew", () => {
    const link = element(
      "a",
      { href: "https://example.org/", target: "_blank", rel: "noopener noreferrer" },
      [text("there")],
    );
    expect(made(element("p", {}, [text("see "), link]))).toBe(
      '<p>see <a href="https://example.org/" target="_blank" rel="noopener noreferrer">there</a></p>',
    );
    expect(made(element("pre", { class: "continued", "data-language": "ts" }))).toBe(
      '<pre class="continued" data-language="ts"></pre>',
    );
  });

  it.each(["script", "style", "iframe", "img", "svg", "form", "button", "template", "base", "x-a"])(
    "leaves out <%s> and everything in it",
    (name) => {
      expect(made(element("p", {}, [text("a"), element(name, {}, [text("b")])]))).toBe("<p>a</p>");
    },
  );

  it("leaves out elements of other namespaces, whatever their name", () => {
    expect(made(element("p", {}, [], "http://www.w3.org/2000/svg"))).toBeNull();
    expect(
      made(element("a", { href: "/s/x" }, [], "http://www.w3.org/1998/Math/MathML")),
    ).toBeNull();
  });

  it("leaves out comments", () => {
    expect(made({ nodeType: 8, nodeValue: "<script>", childNodes: [] })).toBeNull();
  });

  it.each([
    ["onclick", "x()"],
    ["style", "position:fixed"],
    ["id", "root"],
    ["srcdoc", "<p>"],
    ["class", "scrim"],
    ["class", "dialog language-ts"],
    ["href", "javascript:alert(1)"],
    ["href", " javascript:alert(1)"],
    ["href", "data:text/html,x"],
    ["href", "//evil.example"],
    ["href", "/settings/devices"],
    ["target", "_top"],
    ["tabindex", "5"],
    ["constructor", "x"],
    ["__proto__", "x"],
  ])("drops the attribute %s=%s", (name, value) => {
    expect(made(element("a", Object.fromEntries([[name, value]])))).toBe("<a></a>");
  });

  it("gives a page in a new tab no hold on this one", () => {
    expect(made(element("a", { href: "https://a.b/", target: "_blank", rel: "opener" }))).toBe(
      '<a href="https://a.b/" target="_blank" rel="noopener noreferrer"></a>',
    );
  });

  it("lets no form control through but a box nobody can press", () => {
    expect(made(element("input", { type: "text" }))).toBeNull();
    expect(made(element("input", { type: "password", checked: "" }))).toBeNull();
    expect(made(element("input", { type: "checkbox", checked: "" }))).toBe(
      '<input type="checkbox" checked="" disabled=""></input>',
    );
  });

  it("ends a nesting that no stack would survive", () => {
    let node = text("deep");
    for (let i = 0; i < 50_000; i++) node = element("div", {}, [node]);
    expect(made(node)).not.toContain("deep");
  });
});
