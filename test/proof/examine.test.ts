import { describe, expect, test } from 'vitest';
import { examine } from '../../src/proof/examine.ts';
import { createProofs, representativeOf } from '../../src/proof/proofs.ts';
import { exampleUrl } from '../qr/support.ts';

describe('a proof', () => {
  test('of black modules on white: every decoder reads it from 15 mm on', async () => {
    const proof = await examine({ url: exampleUrl, style: {} });
    expect(proof).toMatchObject({ readable: true, contrast: 21, reasons: [] });
    expect(proof.smallest_mm).toBeLessThanOrEqual(15);
    expect(proof.damage_tolerated).toBeGreaterThanOrEqual(0.04);
    expect(proof.damage_tolerated).toBeLessThan(0.3);
    expect(proof.decoders.map(({ name, reads_mm }) => [name, reads_mm])).toEqual([
      ['ZXing', [10, 15, 20, 30]],
      ['qr', [10, 15, 20, 30]],
    ]);
  });

  test('of white modules on white: no decoder reads it', async () => {
    const proof = await examine({ url: exampleUrl, style: { dotsColor: '#FFFFFF' } });
    expect(proof).toMatchObject({ readable: false, smallest_mm: null, contrast: 1, damage_tolerated: 0 });
    expect(proof.decoders.map(({ reads_mm, smallest_mm }) => [reads_mm, smallest_mm])).toEqual([
      [[], null],
      [[], null],
    ]);
    expect(proof.reasons.map(({ field }) => field)).toEqual(['style.dotsColor', 'style']);
  });

  test('of light gray modules: readable as printed, and not in low light', async () => {
    const proof = await examine({ url: exampleUrl, style: { dotsColor: '#CCCCCC' } });
    expect(proof).toMatchObject({ readable: true, smallest_mm: null });
    expect(proof.reasons[0]?.field).toBe('style.dotsColor');
    expect(proof.reasons.map(({ message }) => message).join(' ')).toContain('in low light');
  });

  test('of a logo as large as error correction allows: it has no reserve', async () => {
    const square = [{ d: 'M0 0L10 0L10 10L0 10Z', fill: '#D33000' }];
    const logo = { kind: 'vector', width: 10, height: 10, paths: square } as const;
    const proof = await examine({ url: exampleUrl, style: { logo: { id: 'logo_1', size: 0.3 } }, logo });
    expect(proof).toMatchObject({ readable: true, damage_tolerated: 0 });
    expect(proof.reasons.map(({ field }) => field)).toContain('style.logo.size');
  });

  test('of a long short link: it needs a larger print', async () => {
    const url = `https://${'long.'.repeat(30)}example/${'x'.repeat(14)}`;
    const { smallest_mm, reasons } = await examine({ url, style: {} });
    expect(smallest_mm ?? 99).toBeGreaterThan(15);
    expect(reasons).not.toEqual([]);
  });
});

describe('proofs', () => {
  test('are shared by equal looks and short links of equal length, also of different accounts', async () => {
    const proofs = createProofs(examine);
    const first = proofs.of('acct_a', {}, `${exampleUrl}a`);
    const same = proofs.of('acct_b', { dotsColor: '#000000' }, `${exampleUrl}b`);
    expect((await first).readable).toBe(true);
    expect(await same).toBe(await first);
    expect(await proofs.of('acct_b', {}, `${exampleUrl}c`)).toBe(await first);
  });

  test('are made with a short code of the same length', () => {
    expect(representativeOf('https://sho.rt/x')).toBe('https://sho.rt/a');
    const long = `https://sho.rt/${'x'.repeat(50)}`;
    expect(representativeOf(long)).toHaveLength(long.length);
  });
});
