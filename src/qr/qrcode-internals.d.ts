/** The encoder alone: the entry of the package also loads what draws PNG files. */
declare module 'qrcode/lib/core/qrcode.js' {
  const encoder: Pick<typeof import('qrcode'), 'create'>;
  export default encoder;
}

/** A table of the `qrcode` package that its own types leave out. */
declare module 'qrcode/lib/core/error-correction-code.js' {
  interface Level {
    bit: number;
  }
  const tables: {
    getBlocksCount(version: number, level: Level): number;
    getTotalCodewordsCount(version: number, level: Level): number;
  };
  export default tables;
}

declare module 'qrcode/lib/core/error-correction-level.js' {
  const levels: Record<'L' | 'M' | 'Q' | 'H', { bit: number }>;
  export default levels;
}

declare module 'qrcode/lib/core/reed-solomon-encoder.js' {
  export default class ReedSolomonEncoder {
    constructor(degree: number);
    encode(data: Uint8Array): Uint8Array;
  }
}

declare module 'qrcode/lib/core/utils.js' {
  const utils: { getSymbolTotalCodewords(version: number): number };
  export default utils;
}
