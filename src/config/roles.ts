/** What a process of the service does. */
export const roles = ['api', 'edge', 'relay', 'projections'] as const;
export type Role = (typeof roles)[number];
