import { type Static, Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { oneOf } from './one-of.ts';
import { type Mode, modes } from './plans.ts';
import { changedSettings } from './settings-change.ts';

const text = Type.String();
const exact = { additionalProperties: false };
const mode = oneOf(modes);

export const shareBots = ['include', 'exclude'] as const;

const list = Type.Union([Type.Array(text), Type.Null()]);

/** What the owner can change. Whether there is a password is here; the password itself is in `share_secrets`. */
const fields = {
  name: text,
  has_password: Type.Boolean(),
  /** An ISO timestamp. */
  expires_at: Type.Union([text, Type.Null()]),
  bots: oneOf(shareBots),
  /** Origins of pages that may show it in a frame. */
  frame_origins: Type.Array(text),
};

const shareSettings = { ...fields, codes: list, tags: list };
const publicSettings = { ...fields, qr_ids: list, tags: list };

const settings = Type.Object(shareSettings, exact);
const someSettings = Type.Partial(settings, exact);
export type ShareSettings = Static<typeof settings>;

/** Events of the public pages of statistics of an account. What opens a page is not in the log: see `share_secrets`. */
export const shareEvents = {
  share_created: defineEvent(1, Type.Object({ share: text, mode, ...shareSettings }, exact)),
  /** Schema 1 had neither `codes` nor `tags`. */
  share_changed: defineEvent(2, Type.Object({ share: text, mode, from: someSettings, to: someSettings }, exact), {
    1: (old) => old,
  }),
  share_ended: defineEvent(1, Type.Object({ share: text, mode }, exact)),
};

const shareId = Type.String({ description: 'Identifier of the page.', examples: ['shr_0VMNcq2hE3kx0dTtWq8LbY'] });

const somePublicSettings = Type.Partial(Type.Object(publicSettings, exact), exact);

/** What the owner sees of each event. */
export const publicShare = {
  created: Type.Object({ share_id: shareId, mode, ...publicSettings }, exact),
  changed: Type.Object({ share_id: shareId, mode, from: somePublicSettings, to: somePublicSettings }, exact),
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

const settingsOf = ({ name, has_password, expires_at, bots, frame_origins, codes, tags }: Share): ShareSettings => ({
  name,
  has_password,
  expires_at: expires_at?.toISOString() ?? null,
  bots,
  frame_origins,
  codes,
  tags,
});

/** Only what differs is in the event, and a new password, which the log cannot compare. */
export function changeShare(share: Share, to: Partial<ShareSettings>): ShareEvent[] {
  const isNew = (field: string) => field === 'has_password' && to.has_password === true;
  const change = changedSettings(settingsOf(share), to, isNew);
  const { id, mode } = share;
  return change === undefined ? [] : [{ type: 'share_changed', data: { share: id, mode, ...change } }];
}

export const endShare = ({ id, mode }: Share): ShareEvent[] => [{ type: 'share_ended', data: { share: id, mode } }];
