import { BadImage } from './bytes.ts';

export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: XmlElement[];
  /** The text directly in it, which only a style sheet needs. */
  text: string;
}

export interface XmlLimits {
  maxElements: number;
  maxDepth: number;
}

const maxAttributes = 64;
const nameStart = /[A-Za-z_]/y;

/**
 * Parses the part of XML that drawings need. Refuses what makes XML dangerous: document types with declarations, which can
 * define entities, and every entity but the five of XML and numbers.
 */
export function parseXml(text: string, { maxElements, maxDepth }: XmlLimits): XmlElement {
  const open: XmlElement[] = [];
  let root: XmlElement | undefined;
  let elements = 0;
  let at = text.startsWith('\ufeff') ? 1 : 0;

  const skipPast = (end: string, from: number): number => {
    const found = text.indexOf(end, from);
    if (found === -1) throw new BadImage('is cut off');
    return found + end.length;
  };
  const addText = (content: string) => {
    const parent = open.at(-1);
    if (parent !== undefined) parent.text += content;
    else if (content.trim() !== '') throw new BadImage('is not well-formed XML');
  };

  while (at < text.length) {
    const next = text.indexOf('<', at);
    addText(decodeEntities(text.slice(at, next === -1 ? text.length : next)));
    if (next === -1) break;
    if (text.startsWith('<!--', next)) at = skipPast('-->', next + 4);
    else if (text.startsWith('<?', next)) {
      if (/^<\?xml-stylesheet/i.test(text.slice(next, next + 16))) throw new BadImage('refers to a style sheet');
      at = skipPast('?>', next);
    } else if (text.startsWith('<![CDATA[', next)) {
      const end = skipPast(']]>', next);
      addText(text.slice(next + 9, end - 3));
      at = end;
    } else if (text.startsWith('<!', next)) {
      const end = skipPast('>', next);
      if (root !== undefined || !/^<!DOCTYPE\s[^[\]<]*>$/i.test(text.slice(next, end)))
        throw new BadImage('has declarations in its document type');
      at = end;
    } else if (text.startsWith('</', next)) {
      const end = skipPast('>', next);
      if (open.pop()?.name !== text.slice(next + 2, end - 1).trim()) throw new BadImage('is not well-formed XML');
      at = end;
    } else {
      const tag = readTag(text, next);
      if (++elements > maxElements) throw new BadImage(`has more than ${maxElements} elements`);
      if (open.length >= maxDepth) throw new BadImage(`has elements nested deeper than ${maxDepth}`);
      const element: XmlElement = { name: tag.name, attributes: tag.attributes, children: [], text: '' };
      const parent = open.at(-1);
      if (parent !== undefined) parent.children.push(element);
      else if (root === undefined) root = element;
      else throw new BadImage('is not well-formed XML');
      if (!tag.isEmpty) open.push(element);
      at = tag.end;
    }
  }
  if (root === undefined || open.length > 0) throw new BadImage('is cut off');
  return root;
}

interface Tag {
  name: string;
  attributes: Map<string, string>;
  isEmpty: boolean;
  end: number;
}

function readTag(text: string, start: number): Tag {
  const namePattern = /[A-Za-z_][\w:.-]*/y;
  const read = (pattern: RegExp, at: number): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  if (!read(nameStart, start + 1)) throw new BadImage('is not well-formed XML');
  const [name = ''] = read(namePattern, start + 1) ?? [];
  const attributes = new Map<string, string>();
  let at = start + 1 + name.length;
  for (;;) {
    const close = read(/\s*(\/?)>/y, at);
    if (close) return { name, attributes, isEmpty: close[1] === '/', end: at + close[0].length };
    const attribute = read(/\s+([A-Za-z_][\w:.-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y, at);
    if (!attribute) throw new BadImage('is not well-formed XML');
    const [whole, key = '', double, single] = attribute;
    if (attributes.has(key) || attributes.size === maxAttributes) throw new BadImage('is not well-formed XML');
    attributes.set(key, decodeEntities(double ?? single ?? ''));
    at += whole.length;
  }
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&([^;&\s]{0,12});?/g, (whole, name: string) => {
    const value = Object.hasOwn(named, name) ? named[name] : numbered(name);
    if (value === undefined || !whole.endsWith(';')) throw new BadImage('uses an entity that XML does not define');
    return value;
  });
}

function numbered(name: string): string | undefined {
  const match = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name);
  const code = match === null ? Number.NaN : Number.parseInt(match[1] ?? match[2] ?? '', match[1] ? 16 : 10);
  const isAllowed = code === 9 || code === 10 || code === 13 || (code >= 32 && code <= 0x10ffff);
  return isAllowed ? String.fromCodePoint(code) : undefined;
}
