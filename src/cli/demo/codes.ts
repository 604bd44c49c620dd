import type { CodeRequest } from '../../codes/create.ts';

/** Relative scan frequencies. No scans before 6:00, because codes are created and changed from 5:00 on. */
interface Rhythm {
  /** By weekday, from Sunday. */
  week: readonly number[];
  /** By hour, from midnight. */
  day: readonly number[];
}

export interface DemoCode extends CodeRequest {
  /** Age of the code in days. */
  daysAgo: number;
  /** Scan frequency relative to the other codes. */
  weight: number;
  rhythm: Rhythm;
  /** Ratio of the scan frequency today to the frequency on the first day. */
  growth: number;
  /** Share of scans by returning visitors. */
  returning: number;
  /** Season with more scans. */
  season?: 'summer' | 'winter';
  /** A period with `times` as many scans, such as a festival; 0 for none at all. */
  event?: { daysAgo: number; days: number; times: number };
  changes?: { daysAgo: number; destination_url?: string; active?: boolean; name?: string }[];
}

const cafe: Rhythm = {
  week: [1.35, 0.5, 0.8, 0.9, 1, 1.25, 1.6],
  day: [0, 0, 0, 0, 0, 0, 0.1, 0.6, 1.4, 1.7, 1.5, 1.8, 2.6, 2.2, 1.3, 1.4, 1.6, 1.2, 0.7, 0.3, 0.1, 0, 0, 0],
};
const evening: Rhythm = {
  week: [0.6, 0.3, 0.5, 0.7, 1.1, 2, 2.1],
  day: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.3, 0.5, 0.4, 0.3, 0.4, 0.8, 1.5, 2.4, 2.8, 2.4, 1.8, 1.2, 0.6],
};
const street: Rhythm = {
  week: [0.8, 1, 1, 1.05, 1.05, 1.1, 1],
  day: [0, 0, 0, 0, 0, 0, 0.4, 1.1, 1.6, 1.1, 1, 1.2, 1.6, 1.4, 1.1, 1.1, 1.3, 1.8, 1.7, 1.2, 0.8, 0.5, 0.3, 0.2],
};

const site = 'https://cafe-lumiere.example';

/** The codes of a café, and their changes over a year. */
export const demoCodes: readonly DemoCode[] = [
  {
    name: 'Menu on the tables',
    short_code: 'menu',
    destination_url: `${site}/menu`,
    daysAgo: 364,
    style: { dotsType: 'rounded', dotsColor: '#0B5D45', cornersSquareType: 'extra-rounded', cornersDotType: 'dot' },
    weight: 30,
    rhythm: cafe,
    growth: 1.9,
    returning: 0.42,
    changes: [
      { daysAgo: 250, destination_url: `${site}/menu/with-lunch` },
      { daysAgo: 165, destination_url: `${site}/menu/new-kitchen` },
      { daysAgo: 62, destination_url: `${site}/menu/all-day` },
    ],
  },
  {
    name: 'Terrace',
    short_code: 'terrace',
    destination_url: `${site}/menu/terrace`,
    daysAgo: 240,
    style: {
      dotsType: 'dots',
      dotsColor: '#7A1F4B',
      backgroundColor: '#FFF7F3',
      cornersSquareType: 'dot',
      cornersDotType: 'dot',
    },
    weight: 14,
    rhythm: cafe,
    growth: 1.2,
    returning: 0.28,
    season: 'summer',
    changes: [{ daysAgo: 180, name: 'Terrace and garden' }],
  },
  {
    name: 'Window poster',
    destination_url: `${site}/opening-hours`,
    daysAgo: 340,
    style: { dotsType: 'square' },
    weight: 11,
    rhythm: street,
    growth: 1.3,
    returning: 0.08,
    // The front of the house was painted.
    event: { daysAgo: 43, days: 3, times: 0 },
  },
  {
    name: 'Guest Wi-Fi card',
    short_code: 'wifi',
    destination_url: `${site}/wifi`,
    daysAgo: 330,
    style: { dotsType: 'classy', dotsColor: '#3B2A24', cornersSquareColor: '#A9441F', backgroundColor: '#FBF3EA' },
    weight: 12,
    rhythm: cafe,
    growth: 1.6,
    returning: 0.55,
  },
  {
    name: 'Loyalty card',
    destination_url: `${site}/loyalty`,
    daysAgo: 300,
    style: {
      dotsType: 'extra-rounded',
      dotsColor: '#12406B',
      cornersSquareType: 'extra-rounded',
      cornersDotType: 'dot',
    },
    weight: 9,
    rhythm: cafe,
    growth: 3.2,
    returning: 0.68,
  },
  {
    name: 'Wine evening',
    short_code: 'wine-evening',
    destination_url: `${site}/wine`,
    daysAgo: 120,
    style: { dotsType: 'classy-rounded', dotsColor: '#5B1A2E', cornersSquareType: 'extra-rounded' },
    weight: 5,
    rhythm: evening,
    growth: 1,
    returning: 0.2,
    event: { daysAgo: 96, days: 9, times: 9 },
    changes: [{ daysAgo: 84, destination_url: `${site}/wine/thank-you` }],
  },
  {
    name: 'Takeaway bag',
    destination_url: `${site}/order`,
    daysAgo: 290,
    style: { dotsType: 'rounded', dotsColor: '#1C1B18' },
    weight: 8,
    rhythm: evening,
    growth: 2.4,
    returning: 0.4,
    changes: [{ daysAgo: 140, destination_url: `${site}/order?from=bag` }],
  },
  {
    name: 'Receipt: how was it?',
    destination_url: `${site}/feedback`,
    daysAgo: 280,
    style: {},
    weight: 5,
    rhythm: cafe,
    growth: 1.4,
    returning: 0.12,
  },
  {
    name: 'Bean bag, house roast',
    short_code: 'house-roast',
    destination_url: `${site}/beans/house`,
    daysAgo: 260,
    style: {
      dotsType: 'extra-rounded',
      dotsColor: '#3D2314',
      cornersDotColor: '#A9441F',
      cornersSquareType: 'dot',
      cornersDotType: 'dot',
    },
    weight: 6,
    rhythm: street,
    growth: 2.1,
    returning: 0.22,
    season: 'winter',
  },
  {
    name: 'Street festival stall',
    destination_url: `${site}/festival`,
    daysAgo: 355,
    style: { dotsType: 'dots', dotsColor: '#8A1C1C', cornersSquareType: 'dot' },
    weight: 4,
    rhythm: evening,
    growth: 1,
    returning: 0.1,
    event: { daysAgo: 335, days: 26, times: 12 },
    changes: [{ daysAgo: 305, active: false }],
  },
  {
    name: 'Delivery bike',
    destination_url: `${site}/order?from=bike`,
    daysAgo: 75,
    style: { dotsType: 'classy-rounded', dotsColor: '#0A4A6B', cornersDotColor: '#0A7EA4' },
    weight: 3,
    rhythm: street,
    growth: 1.8,
    returning: 0.1,
  },
  {
    name: 'Brunch voucher',
    destination_url: `${site}/brunch`,
    daysAgo: 6,
    status: 'draft',
    style: { dotsType: 'rounded', dotsColor: '#7A4B0B' },
    weight: 0,
    rhythm: cafe,
    growth: 1,
    returning: 0,
  },
];
