import { type TProperties, type TSchema, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { type PublicType, publicTypeNames, publicTypes } from '../../../events/public-types.ts';
import { auditTypes } from '../../feed/audit.ts';
import { type FieldError, invalid } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import { actorName, exact } from '../http/schemas.ts';

/** Schemas of events, and what reading them has in common. */

const pascalCase = (type: PublicType) => type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());

const eventOf = (type: PublicType, more: TProperties = {}) =>
  t.Object(
    {
      id: t.String({
        description: 'Identifier of the event, the same whenever it is read.',
        examples: ['evt_0VMOcq2hE3kx0dTtWq8LbY'],
      }),
      type: oneOf([type]),
      timestamp: t.String({
        format: 'date-time',
        description: 'When it happened.',
        examples: ['2026-03-01T09:30:00.000Z'],
      }),
      actor: t.String({
        description:
          'Who caused it: the id of a key or person, `operator`, `scanlog` for the service itself, or `visitor` for a scan.',
        examples: ['visitor'],
      }),
      ...more,
      qr_id: t.Optional(
        t.String({ description: 'The code that it is about.', examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
      ),
      data: publicTypes[type].data,
    },
    { ...exact, description: publicTypes[type].summary },
  );

/** The schema of each type, by a name such as `ScanCreatedEvent`. */
export const eventSchemas: Record<string, TSchema> = Object.fromEntries(
  publicTypeNames.map((type) => [`${pascalCase(type)}Event`, eventOf(type)]),
);

export const Event = t.Union(
  publicTypeNames.map((type) => eventOf(type)),
  {
    description: 'An event of the account; `type` says which `data` it has.',
  },
);

export const EventPage = t.Object(
  {
    data: t.Array(Event, { description: 'Events in the order of the log.' }),
    next: t.String({
      description: 'The cursor after these events, also if there are none: pass it as `after` of the next request.',
      examples: ['AXv0q1cJ8m2yWnTfE0p4uQdRk7sLhZ9bGtYiVo'],
    }),
    has_more: t.Boolean({
      description:
        'Whether the end of the log is not reached: request the next page at once. A page can be empty although there is more, because a request reads the log for 1.5 s at most.',
    }),
  },
  exact,
);

/** An event of the audit log. */
export const AuditEvent = t.Union(
  auditTypes.map((type) => eventOf(type, { actor_name: actorName })),
  {
    description: 'An event of the audit log; `type` says which `data` it has.',
    examples: [
      {
        id: 'evt_0VMOcq2hE3kx0dTtWq8LbY',
        type: 'key.created',
        timestamp: '2026-03-01T09:30:00.000Z',
        actor: 'key_0VMNcq2hE3kx0dTtWq8LbY',
        actor_name: 'Deployment',
        data: {
          key_id: 'key_0VMOcq2hE3kx0dTtWq8LbY',
          name: 'CI',
          mode: 'live',
          last4: 'x7Qa',
          scopes: ['codes.read'],
          expires_at: '2026-12-31T23:00:00.000Z',
          allowed_cidrs: null,
        },
      },
    ],
  },
);

/** For the documentation: all types with what they mean. */
export const typesTable = [
  '| type | what happened |',
  '|---|---|',
  ...publicTypeNames.map((type) => `| \`${type}\` | ${publicTypes[type].summary} |`),
].join('\n');

/** Reads a list of types, separated by commas; throws 400 for an unknown one. */
export function typesIn(
  field: string,
  text: string | undefined,
  known: readonly PublicType[] = publicTypeNames,
): PublicType[] | undefined {
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  const isType = (name: string): name is PublicType => (known as readonly string[]).includes(name);
  const errors = names
    .filter((name) => !isType(name))
    .map((name): FieldError => {
      const near = nearest(name, [...known]);
      return {
        field,
        message: `${field}: there is no type "${name}"${near === undefined ? '' : `, did you mean ${near}?`}`,
      };
    });
  const [first, ...rest] = errors;
  if (first !== undefined) throw invalid([first, ...rest]);
  return names.filter(isType);
}
