/// <reference path="./qrcode-internals.d.ts" />
import blocks from 'qrcode/lib/core/error-correction-code.js';
import levels from 'qrcode/lib/core/error-correction-level.js';
import utils from 'qrcode/lib/core/utils.js';
import { type Matrix, versionOf } from './matrix.ts';

const timingColumn = 6;

/**
 * The damage that left-out modules do, in the worst block of codewords: 1 means that all codewords with a left-out
 * module can just be corrected if nothing else is damaged; more than 1 cannot be corrected.
 */
export function damageOf(matrix: Matrix, isLeftOut: (x: number, y: number) => boolean): number {
  const { blockOf, correctable } = structureOf(matrix);
  const damaged = new Map<number, Set<number>>();
  for (const { x, y, codeword } of dataModules(matrix)) {
    const block = blockOf[codeword];
    // The last bits of some versions belong to no codeword.
    if (block === undefined || !isLeftOut(x, y)) continue;
    const codewords = damaged.get(block) ?? new Set();
    damaged.set(block, codewords.add(codeword));
  }
  return Math.max(0, ...[...damaged.values()].map(({ size }) => size / correctable));
}

/** The block of each codeword in the order in which they are placed, and how many of a block can be corrected. */
function structureOf(matrix: Matrix): { blockOf: number[]; correctable: number } {
  const version = versionOf(matrix);
  const level = levels[matrix.level];
  const total = utils.getSymbolTotalCodewords(version);
  const count = blocks.getBlocksCount(version, level);
  const data = total - blocks.getTotalCodewordsCount(version, level);
  const longBlocks = total % count;
  const shortData = Math.floor(data / count);
  const correction = Math.floor(total / count) - shortData;
  const blockOf: number[] = [];
  const all = Array.from({ length: count }, (_, block) => block);
  for (let i = 0; i < shortData; i++) blockOf.push(...all);
  blockOf.push(...all.slice(count - longBlocks));
  for (let i = 0; i < correction; i++) blockOf.push(...all);
  return { blockOf, correctable: Math.floor(correction / 2) };
}

/** Modules that carry data, in the order of the bits: in columns two modules wide, upwards and downwards in turn. */
export function* dataModules({ side, isFunction }: Matrix): Generator<{ x: number; y: number; codeword: number }> {
  let bit = 0;
  let isUpward = true;
  for (let right = side - 1; right > 0; right -= 2) {
    if (right === timingColumn) right--;
    for (let step = 0; step < side; step++) {
      const y = isUpward ? side - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (isFunction(x, y)) continue;
        yield { x, y, codeword: bit >> 3 };
        bit++;
      }
    }
    isUpward = !isUpward;
  }
}
