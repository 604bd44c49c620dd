import { expect, test } from 'vitest';
import type { VectorLogo } from '../../src/qr/logo-art.ts';
import { decodeLogo, encodeLogo } from '../../src/qr/logo-files.ts';

const textOf = (art: VectorLogo) => new TextDecoder().decode(encodeLogo(art).content);
const box = { kind: 'vector', width: 100, height: 100 } as const;

test('a clip that many paths share is stored once, and belongs to each of them again', () => {
  const clip = { d: `M0 0${'L50 50'.repeat(1_000)}Z` };
  const inner = { d: 'M1 1L9 9Z', rule: 'evenodd' } as const;
  const paths = Array.from({ length: 500 }, (_, i) => ({
    d: `M${i} 0L1 1Z`,
    fill: '#000000',
    clips: i % 2 ? [clip] : [clip, inner],
  }));
  const art = { ...box, paths: [...paths, { d: 'M0 0L1 1Z', fill: '#FF0000' }] };
  expect(textOf(art).length).toBeLessThan(100_000);
  expect(decodeLogo(encodeLogo(art))).toEqual(art);
});

test('paths without clips keep the form of version 1, which all versions read', () => {
  const art = { ...box, paths: [{ d: 'M0 0L1 1Z', fill: '#000000' }] };
  expect(JSON.parse(textOf(art))).toMatchObject({ version: 1, paths: art.paths });
  const old = { version: 1, width: 100, height: 100, paths: [{ d: 'M0 0Z', clips: [{ d: 'M0 0L2 2Z' }] }] };
  const content = new TextEncoder().encode(JSON.stringify(old));
  expect(decodeLogo({ type: 'application/json', content })).toMatchObject({ paths: old.paths });
});

test('a form of a later version is not guessed', () => {
  const content = new TextEncoder().encode(JSON.stringify({ version: 3, width: 1, height: 1, paths: [] }));
  expect(() => decodeLogo({ type: 'application/json', content })).toThrow('newer Scanlog');
});
