import type { AlertKind } from '../../../../events/alert.ts';

interface KindText {
  /** In a list to choose from. */
  label: string;
  /** What it does, for people who do not know how it works. */
  sentence: string;
}

export const alertKindTexts: Record<AlertKind, KindText> = {
  destination_down: {
    label: 'A website is down',
    sentence:
      'We visit the websites that your codes lead to about once an hour, and tell you when one fails twice in a row.',
  },
  silent: {
    label: 'A code is not scanned any more',
    sentence:
      'We learn from the last eight weeks when each code is usually scanned, and tell you when the scans stop. A code needs three weeks of regular scans for this.',
  },
  spike: {
    label: 'A code is scanned far more than usual',
    sentence: 'We tell you when a code has at least four times as many scans as at the same time in the weeks before.',
  },
  limit_near: {
    label: 'A limit is nearly reached',
    sentence:
      'We tell you when a code has used most of its scans, or your plan has hardly any codes, domains or short codes left.',
  },
  domain_failing: {
    label: 'A domain is not set up correctly any more',
    sentence: 'We check the records of your domains every day, and tell you when one of them is gone or wrong.',
  },
};

export const alertKindOptions = Object.entries(alertKindTexts) as [AlertKind, KindText][];
