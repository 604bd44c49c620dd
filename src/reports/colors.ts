/** On white paper; text has a contrast of at least 7. */
export const colors = {
  paper: '#ffffff',
  text: '#1c1917',
  muted: '#57534e',
  line: '#d6d3d1',
  bar: '#0f766e',
  shade: '#d5e8e5',
  before: '#c2410c',
} as const;
