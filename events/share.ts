import { type Static, Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { oneOf } from './one-of.ts';
import { type Mode, modes } from './plans.ts';

const text = Type.String();
const exact = { additionalProperties: false };
const mode = oneOf(modes);

export const shareBots = ['include', 'exclude'] as const;

/** What the owner can change. Whether there is a password is here; the password itself is in `share_secrets`. */
export const shareSettings = {
  name: text,
  has_password: Type.Boolean(),
  /** An ISO timestamp. */
  expires_at: Type.Union([text, Type.Null()]),
  bots: oneOf(shareBots),
  /** Origins of pages that may show it in a frame. */
  frame_origins: Type.Array(text),
};

const settings = Type.Object(shareSettings, exact);
const someSettings = Type.Partial(settings, exact);
export type ShareSettings = Static<typeof settings>;

const list = Type.Union([Type.Array(text), Type.Null()]);

/** Events of the public pages of statistics of an account. What opens a page is not in the log: see `share_secrets`. */
export const shareEvents = {
  share_created: defineEvent(1, Type.Object({ share: text, mode, codes: list, tags: list, ...shareSettings }, exact)),
  share_changed: defineEvent(1, Type.Object({ share: text, mode, from: someSettings, to: someSettings }, exact)),
  share_ended: defineEvent(1, Type.Object({ share: text, mode }, exact)),
};

const shareId = Type.String({ description: 'Identifier of the page.', examples: ['shr_0VMNcq2hE3kx0dTtWq8LbY'] });

/** What the owner sees of each event. */
export const publicShare = {
  created: Type.Object({ share_id: shareId, mode, qr_ids: list, tags: list, ...shareSettings }, exact),
  changed: Type.Object({ share_id: shareId, mode, from: someSettings, to: someSettings }, exact),
  ended: Type.Object({ share_id: shareId, mode }, exact),
};

export type ShareEvent = EventOf<typeof shareEvents>;

/** A public page of statistics. */
export interface Share {
  id: string;
  account: string;
  mode: Mode;
  name: string;
  codes: string[] | null;
  /** In lower case. */
  tags: string[] | null;
  has_password: boolean;
  expires_at: Date | null;
  bots: (typeof shareBots)[number];
  frame_origins: string[];
  created_at: Date;
}

export const shareSettingsOf = ({ name, has_password, expires_at, bots, frame_origins }: Share): ShareSettings => ({
  name,
  has_password,
  expires_at: expires_at?.toISOString() ?? null,
  bots,
  frame_origins,
});

/** Only what differs is in the event, and a new password, which the log cannot compare. */
export function changeShare(share: Share, to: Partial<ShareSettings>): ShareEvent[] {
  const before = shareSettingsOf(share);
  const changed = (Object.keys(to) as (keyof ShareSettings)[]).filter(
    (field) =>
      (field === 'has_password' && to.has_password) || JSON.stringify(before[field]) !== JSON.stringify(to[field]),
  );
  if (changed.length === 0) return [];
  const pick = (from: Partial<ShareSettings>) => Object.fromEntries(changed.map((field) => [field, from[field]]));
  return [{ type: 'share_changed', data: { share: share.id, mode: share.mode, from: pick(before), to: pick(to) } }];
}

export const endShare = ({ id, mode }: Share): ShareEvent[] => [{ type: 'share_ended', data: { share: id, mode } }];
