/** Stroke paths on a 24 × 24 grid. Icons are decorative: a label next to them carries the meaning. */
const paths = {
  back: 'M15 5l-7 7 7 7',
  check: 'M5 12.5l4.5 4.5L19 7',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h10v10H9zM5 15V5h10',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  down: 'M12 5v14M6 13l6 6 6-6',
  exit: 'M10 5H5v14h5M14 8l4 4-4 4M9 12h9',
  expand: 'M6 9l6 6 6-6',
  external: 'M14 5h5v5M19 5l-8 8M10 6H6v12h12v-4',
  grip: 'M9 6v.5M15 6v.5M9 12v.5M15 12v.5M9 18v.5M15 18v.5',
  history: 'M4 12a8 8 0 1 0 2.5-5.8M4 4v4h4M12 8v4l3 2',
  lock: 'M7 11V8a5 5 0 0 1 10 0v3M5 11h14v9H5z',
  moon: 'M19 14.5A7.5 7.5 0 0 1 9.5 5a7.5 7.5 0 1 0 9.5 9.5z',
  more: 'M5 12v.5M12 12v.5M19 12v.5',
  next: 'M9 5l7 7-7 7',
  pause: 'M9 6v12M15 6v12',
  pencil: 'M5 19l1-4L16 5l3 3L9 18zM14 7l3 3',
  play: 'M8 5l11 7-11 7z',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20a7.5 7.5 0 0 1 15 0',
  phone: 'M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM11 18h2',
  plus: 'M12 5v14M5 12h14',
  print: 'M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7z',
  refresh: 'M20 12a8 8 0 1 1-2.5-5.8M20 4v4h-4',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4 4',
  send: 'M4 12l16-7-6 16-3-7z',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5',
  tag: 'M4 4h8l8 8-8 8-8-8zM8.5 8.5v.5',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  up: 'M12 19V5M6 11l6-6 6 6',
  upload: 'M12 20V9M7 13l5-5 5 5M5 4h14',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.5',
} as const;

export const Icon = ({ name }: { name: keyof typeof paths }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);
