// Apart from the events of members, whose schemas the console does not need in the browser.

/** What a member of an account may do: all of it, change codes, or read. Each includes those after it. */
export const roles = ['owner', 'editor', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** Whether a member with the role `own` may do what needs `needed`. */
export const includesRole = (own: Role, needed: Role): boolean => roles.indexOf(own) <= roles.indexOf(needed);
