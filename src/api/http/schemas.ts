import { type TSchema, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { errorCodes } from '../../lib/errors.ts';

/** Schemas that several groups of operations use. Schemas serve validation, documentation and types. */

export const exact = { additionalProperties: false } as const;

export const orNull = <S extends TSchema>(schema: S) => t.Union([schema, t.Null()]);

export const time = (description: string) =>
  t.String({ format: 'date-time', description, examples: ['2026-03-01T09:30:00.000Z'] });

/** Who caused an event, in the audit log and the history. The feed and webhooks lack it: what they have sent never changes. */
export const actorName = t.Union([t.String(), t.Null()], {
  description:
    'The present name of the key or person; "a former member" for a person who was deleted; null for the operator and the service.',
  examples: ['Ana Martín'],
});

export const Deleted = t.Object(
  {
    deleted: t.Literal(true),
    id: t.String({ description: 'Identifier of what was deleted.', examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
  },
  exact,
);

const Pagination = t.Object(
  { page: t.Integer(), limit: t.Integer(), total: t.Integer(), total_pages: t.Integer() },
  { ...exact, examples: [{ page: 1, limit: 20, total: 1, total_pages: 1 }] },
);

export const pageOf = <S extends Parameters<typeof t.Array>[0]>(item: S) =>
  t.Object({ data: t.Array(item), pagination: Pagination }, exact);

/** A page that also names the cursor to go on after it. */
export const listOf = <S extends Parameters<typeof t.Array>[0]>(item: S) =>
  t.Object(
    {
      data: t.Array(item),
      pagination: t.Optional(Pagination),
      next: t.Union([t.String(), t.Null()], {
        description: 'Cursor to send as `after` for what follows; null at the end of the list.',
        examples: ['AVJxk0gJ2mQ7c9Yw4bXKz1vTnE8aPqLr5sUdFhGiCjBo6tMe'],
      }),
    },
    exact,
  );

/** The query parameters of a paged list. */
export const pageQuery = (limits: { default: number; maximum: number }) => ({
  page: t.Optional(
    t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1, description: 'Page number, from 1.' }),
  ),
  limit: t.Optional(t.Integer({ minimum: 1, ...limits, description: `Items per page, at most ${limits.maximum}.` })),
});

export const ErrorResponse = t.Object(
  {
    error: t.Object(
      {
        code: oneOf(errorCodes, { description: 'Machine-readable error code.' }),
        message: t.String({ description: 'Human-readable message.' }),
        details: t.Optional(
          t.Array(t.Object({ index: t.Optional(t.Integer()), field: t.String(), message: t.String() }, exact), {
            description: 'Every invalid field, and what it must be.',
          }),
        ),
      },
      exact,
    ),
  },
  exact,
);
