import { Type } from '@sinclair/typebox';
import { defineEvent } from './define.ts';
import { oneOf } from './one-of.ts';
import { type Mode, modes } from './plans.ts';

const text = Type.String();
const mode = oneOf(modes);
const count = Type.Integer({ minimum: 1 });

export const logoFormats = ['png', 'jpeg', 'webp', 'svg'] as const;
export type LogoFormat = (typeof logoFormats)[number];

/** Events of the logos of an account. The images themselves are not in the log: see `logo_files`. */
export const logoEvents = {
  logo_added: defineEvent(
    1,
    Type.Object(
      {
        logo: text,
        mode,
        /** SHA-256 of the stored image in hex, by which it is found. */
        hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
        /** Of the uploaded image, which is stored in another form. */
        format: oneOf(logoFormats),
        width: count,
        height: count,
        bytes: count,
      },
      { additionalProperties: false },
    ),
  ),
  logo_removed: defineEvent(1, Type.Object({ logo: text, mode }, { additionalProperties: false })),
};

export interface Logo {
  id: string;
  account: string;
  mode: Mode;
  hash: string;
  format: LogoFormat;
  width: number;
  height: number;
  bytes: number;
  created_at: Date;
}
