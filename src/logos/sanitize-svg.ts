import { escapeText } from '../qr/svg.ts';
import { BadImage } from './bytes.ts';
import {
  droppedElements,
  keptAttributes,
  keptElements,
  refusedAttributes,
  refusedElements,
  svgLimits,
} from './svg-rules.ts';
import { parseXml, type XmlElement } from './xml.ts';

/**
 * Rewrites an SVG document with only the elements and attributes of svg-rules.ts. Throws `BadImage` for a document with
 * scripts, references to other files, or parts that cannot be kept.
 */
export function sanitizeSvg(text: string): string {
  const root = parseXml(text, svgLimits);
  if (root.name !== 'svg') throw new BadImage('is not an SVG document');
  const kept = keep(root);
  checkUses(kept);
  const body = write(kept).replace(
    '<svg',
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"',
  );
  return body;
}

function keep(element: XmlElement): XmlElement {
  const { name } = element;
  if (!keptElements.has(name)) {
    const known = Object.hasOwn(refusedElements, name) ? refusedElements[name] : undefined;
    throw new BadImage(known ?? `contains the element ${name.slice(0, 40)}, which a logo cannot have`);
  }
  const attributes = new Map<string, string>();
  for (const [key, value] of element.attributes) {
    if (/^on/i.test(key)) throw new BadImage('contains a script');
    if (Object.hasOwn(refusedAttributes, key) && value.trim() !== 'none')
      throw new BadImage(String(refusedAttributes[key]));
    if (keptAttributes.has(key)) attributes.set(key, checkedValue(key, value));
  }
  if (name === 'style') checkStyle(element.text);
  return {
    name,
    attributes,
    text: name === 'style' ? element.text : '',
    children: element.children.filter(isShown).map(keep),
  };
}

/** Elements of other namespaces are notes of the program that wrote the file. */
const isShown = ({ name }: XmlElement) => !droppedElements.has(name) && !name.includes(':');

function checkedValue(key: string, value: string): string {
  if (key === 'href' || key === 'xlink:href') {
    if (!/^#[\w.:-]+$/.test(value.trim())) throw new BadImage('refers to another file');
    return value.trim();
  }
  if (key === 'style') checkStyle(value);
  return localReferences(value);
}

/** An escape could spell a forbidden word, and a rule with "@" can load something. */
function checkStyle(css: string): void {
  if (css.includes('\\') || css.includes('@') || /javascript:|expression\s*\(|binding|behavior/i.test(css))
    throw new BadImage('has a style sheet with more than plain rules');
  if (/(^|[;{\s])(filter|mask)\s*:(?!\s*none)/i.test(css)) throw new BadImage('contains a filter effect or a mask');
  localReferences(css);
}

/** Only parts of the same document may be referred to. resvg does not know the form with quotation marks. */
function localReferences(value: string): string {
  return value.replace(/url\s*\(([^)]*)\)?/gi, (_, quoted: string) => {
    const target = quoted.trim().replace(/^(["'])(.*)\1$/, '$2');
    if (!/^#[\w.:-]+$/.test(target)) throw new BadImage('refers to another file');
    return `url(${target})`;
  });
}

/** What an element becomes when every `use` in it is replaced by what it repeats. */
interface Expanded {
  elements: number;
  characters: number;
}

/** Refuses a document in which `use` elements repeat too much: a few lines can become billions of elements. */
function checkUses(root: XmlElement): void {
  const byId = new Map<string, XmlElement>();
  const collect = (element: XmlElement) => {
    const id = element.attributes.get('id');
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
    element.children.forEach(collect);
  };
  collect(root);
  const sizes = new Map<XmlElement, Expanded>();
  const visiting = new Set<XmlElement>();
  const sizeOf = (element: XmlElement): Expanded => {
    const cached = sizes.get(element);
    if (cached !== undefined) return cached;
    if (visiting.has(element)) throw new BadImage('contains an element that repeats itself');
    visiting.add(element);
    const reference = element.attributes.get('href') ?? element.attributes.get('xlink:href');
    const target = reference === undefined ? undefined : byId.get(reference.slice(1));
    const size = { elements: 1, characters: lengthOf(element, 'd') + lengthOf(element, 'points') };
    for (const part of target === undefined ? element.children : [target, ...element.children]) {
      const { elements, characters } = sizeOf(part);
      size.elements += elements;
      size.characters += characters;
    }
    visiting.delete(element);
    if (size.elements > svgLimits.maxExpandedElements)
      throw new BadImage(`repeats parts to more than ${svgLimits.maxExpandedElements} elements`);
    if (size.characters > svgLimits.maxPathCharacters)
      throw new BadImage(`has, with repeated parts, more than ${svgLimits.maxPathCharacters} characters of paths`);
    sizes.set(element, size);
    return size;
  };
  sizeOf(root);
}

const lengthOf = ({ attributes }: XmlElement, name: string) => attributes.get(name)?.length ?? 0;

function write({ name, attributes, children, text }: XmlElement): string {
  const written = [...attributes].map(([key, value]) => ` ${key}="${escapeText(value)}"`).join('');
  const content = text === '' ? children.map(write).join('') : escapeText(localReferences(text));
  return `<${name}${written}>${content}</${name}>`;
}
