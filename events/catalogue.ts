import { type AccountEvent, accountEvents } from './account.ts';
import { type AppliedCodeEvent, type CodeChanged, type CodeEvent, codeEvents } from './code-events.ts';
import type { EventDefinition } from './define.ts';
import type { Pending } from './recorded.ts';
import { type ServiceEvent, serviceEvents } from './service.ts';
import { NewerVersion, refuseNewer } from './wire/newer-version.ts';

/** Everything that can happen to a code, an account, or the service as a whole. */
export type DomainEvent = CodeEvent | AccountEvent | ServiceEvent;
/** An event of a deleted account: it keeps only its position, type and time. */
export interface ErasedEvent {
  type: 'erased';
  /** The original type. */
  data: { type: string };
}
/** An event as read from the log. */
export type StoredEvent = DomainEvent | ErasedEvent;
/** An event of a stream that already exists. */
export type ChangeEvent = CodeChanged | AccountEvent | ServiceEvent;
/** An event that updates current state. */
export type AppliedEvent = AppliedCodeEvent | Pending<AccountEvent | ServiceEvent | ErasedEvent>;

/** The schema number of an erased event, for every type. */
export const erasedSchema = 0;

const catalogue: ReadonlyMap<string, EventDefinition> = new Map(
  Object.entries({ ...codeEvents, ...accountEvents, ...serviceEvents }),
);

/** The schema number to store `event` with; throws if its data does not match the schema of its type. */
export function schemaOf(event: DomainEvent): number {
  const definition = catalogue.get(event.type);
  if (definition === undefined) throw new Error(`There is no event of type ${event.type}`);
  if (!definition.matches(event.data))
    throw new Error(`${event.type} does not match its schema: ${definition.mismatch(event.data)}`);
  return definition.schema;
}

/** Converts a stored event to the current schema; throws `NewerVersion` for a type or schema that is unknown here. */
export function upcast(type: string, schema: number, data: unknown): StoredEvent {
  const definition = catalogue.get(type);
  if (definition === undefined) throw new NewerVersion(`An event of the unknown type ${type}`);
  if (schema === erasedSchema && isEmpty(data)) return { type: 'erased', data: { type } };
  refuseNewer(`An event of type ${type}`, schema, definition.schema);
  let current = data;
  for (let number = schema; number < definition.schema; number++) {
    const next = definition.upcasters[number];
    if (next === undefined) throw new Error(`${type} of schema ${number} has no upcaster to schema ${number + 1}`);
    current = next(current as Record<string, unknown>);
  }
  if (!definition.matches(current))
    throw new Error(`${type} of schema ${schema} cannot be read: ${definition.mismatch(current)}`);
  return { type, data: current } as DomainEvent;
}

const isEmpty = (data: unknown) => typeof data === 'object' && data !== null && Object.keys(data).length === 0;

export const isCodeEvent = <E extends { type: string }>(event: E): event is E & CodeEvent =>
  Object.hasOwn(codeEvents, event.type);
