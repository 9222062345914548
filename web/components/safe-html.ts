// The one door through which HTML enters the page. Nothing that was parsed is ever inserted: what the
// render worker may emit is made anew from the list below, node by node, and the rest is left out. The
// result is never text again, so no second parse can read it differently.

/** As much of a DOM node as is looked at. */
export interface ParsedNode {
  readonly nodeType: number;
  readonly nodeValue: string | null;
  readonly childNodes: ArrayLike<ParsedNode>;
  readonly localName?: string;
  readonly namespaceURI?: string | null;
  readonly attributes?: ArrayLike<{ readonly name: string; readonly value: string }>;
}

/** Makes nodes of a document, or of a test. */
export interface NodeMaker<Made> {
  text(value: string): Made;
  element(name: string, attributes: ReadonlyMap<string, string>, children: readonly Made[]): Made;
}

const ELEMENT_NODE = 1;
const TEXT_NODE = 3;
const XHTML = "http://www.w3.org/1999/xhtml";
/** Deeper than any text a person reads, shallower than any stack. */
const DEPTH_MAX = 200;

const TAGS = new Set(
  "p br h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code hr div span a strong em del table thead tbody tr th td input".split(
    " ",
  ),
);

/** Each attribute with the values it may have. Event handlers, styles and ids are simply not here. */
const ATTRIBUTES: Readonly<Record<string, RegExp>> = {
  href: /^(?:https?:\/\/|mailto:|\/s\/)/i,
  target: /^_blank$/,
  rel: /^noopener noreferrer$/,
  title: /^/,
  // The page's own classes must not be lent to a text.
  class: /^(?:language-\S+|align-(?:left|center|right)|table-scroll|remote-image|continued)$/,
  "data-language": /^/,
  start: /^\d{1,9}$/,
  type: /^checkbox$/,
  checked: /^/,
  disabled: /^/,
  tabindex: /^0$/,
  "aria-label": /^/,
};

function safeAttributes(node: ParsedNode): Map<string, string> {
  const safe = new Map<string, string>();
  for (const { name, value } of Array.from(node.attributes ?? [])) {
    const isKnown = Object.hasOwn(ATTRIBUTES, name);
    if (isKnown && ATTRIBUTES[name]?.test(value)) safe.set(name, value);
  }
  // A page opened in a new tab gets no hold on this one.
  if (safe.has("target")) safe.set("rel", "noopener noreferrer");
  return safe;
}

/** Null: left out, with all it holds. */
export function remake<Made>(node: ParsedNode, make: NodeMaker<Made>, depth = 0): Made | null {
  if (node.nodeType === TEXT_NODE) return make.text(node.nodeValue ?? "");
  const name = node.localName ?? "";
  const isHtml = node.nodeType === ELEMENT_NODE && node.namespaceURI === XHTML;
  if (!isHtml || !TAGS.has(name) || depth > DEPTH_MAX) return null;
  const attributes = safeAttributes(node);
  // The only form control that markdown makes is a task list's box, and nobody may press it.
  if (name === "input") {
    if (attributes.get("type") !== "checkbox") return null;
    attributes.set("disabled", "");
  }
  return make.element(name, attributes, remakeAll(node.childNodes, make, depth + 1));
}

function remakeAll<Made>(nodes: ArrayLike<ParsedNode>, make: NodeMaker<Made>, depth = 0): Made[] {
  return Array.from(nodes)
    .map((node) => remake(node, make, depth))
    .filter((made) => made !== null);
}

const pageMaker: NodeMaker<Node> = {
  text: (value) => document.createTextNode(value),
  element(name, attributes, children) {
    const element = document.createElement(name);
    for (const [attribute, value] of attributes) element.setAttribute(attribute, value);
    element.append(...children);
    return element;
  },
};

/**
 * Each outermost element runs in the direction of its own text, and what it holds goes along.
 * The parser's document is inert: it runs no script and loads no image.
 */
export function toSafeNodes(html: string): Node[] {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const nodes = remakeAll(parsed.body.childNodes, pageMaker);
  for (const node of nodes) if (node instanceof HTMLElement) node.dir = "auto";
  return nodes;
}
