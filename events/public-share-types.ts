import { define } from './public-type.ts';
import { withQrIds } from './settings-change.ts';
import { publicShare } from './share.ts';

/** What the owner of an account sees of its shared pages. */
export const publicShareTypes = {
  'share.created': define({
    summary: 'A public page of statistics was created.',
    entries: ['share_created'],
    data: publicShare.created,
    dataOf: ({ data: { share, codes, ...data } }) => ({ share_id: share, qr_ids: codes, ...data }),
  }),
  'share.changed': define({
    summary: 'Settings of a public page of statistics changed; `from` and `to` have only those.',
    entries: ['share_changed'],
    data: publicShare.changed,
    dataOf: ({ data: { share, mode, from, to } }) => ({
      share_id: share,
      mode,
      from: withQrIds(from),
      to: withQrIds(to),
    }),
  }),
  'share.ended': define({
    summary: 'A public page of statistics was ended.',
    entries: ['share_ended'],
    data: publicShare.ended,
    dataOf: ({ data: { share, mode } }) => ({ share_id: share, mode }),
  }),
};
