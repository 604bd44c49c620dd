import { describe, expect, test } from 'vitest';
import { languages } from '../../events/languages.ts';
import { languageOf, textsIn } from '../../src/texts/in-language.ts';

/** Functions get an argument that shows which of its parts they use. */
const facts = new Proxy({}, { get: (_, name) => `<${String(name)}>` });
const parts = ['<1>', '<2>', '<3>'];

/** Every text of a language by its path; those of functions with what they make of their arguments. */
function textsBelow(value: unknown, path = ''): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') {
    const make = value as (...args: unknown[]) => string;
    return [[path, make.toString().includes('({') ? make(facts) : make(...parts)]];
  }
  return Object.entries(value as object).flatMap(([name, part]) => textsBelow(part, `${path}.${name}`));
}

const placesIn = (text: string) => [...new Set(text.match(/%|<\w+>/g) ?? [])].toSorted();

describe.each(languages)('%s', (language) => {
  const texts = new Map(textsBelow(textsIn(language)));

  test('has every text, with everything that belongs into it', () => {
    for (const [path, english] of textsBelow(textsIn('en'))) {
      const text = texts.get(path) ?? '';
      expect(text.trim(), path).not.toBe('');
      expect(placesIn(text), path).toEqual(placesIn(english));
    }
  });

  test('is not English by mistake', () => {
    if (language === 'en') return;
    const english = new Map(textsBelow(textsIn('en')));
    const sentences = [...texts].filter(([path, text]) => text.includes(' ') && english.get(path) === text);
    expect(sentences).toEqual([]);
  });
});

test('the language of a reader is the first that we have', () => {
  const of = (header: string) => languageOf(new Headers({ 'accept-language': header }));
  expect([of('sv, pt-BR;q=0.8, de;q=0.5'), of('sv'), of(''), of('__proto__, constructor')]).toEqual([
    'pt',
    'en',
    'en',
    'en',
  ]);
  expect(textsIn('xx')).toBe(textsIn('en'));
});
