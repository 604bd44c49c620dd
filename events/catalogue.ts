import { type AccountEvent, accountEvents } from './account.ts';
import { type AppliedCodeEvent, type CodeChanged, type CodeEvent, codeEvents } from './code.ts';
import type { EventDefinition } from './define.ts';
import type { Pending } from './recorded.ts';
import { type ServiceEvent, serviceEvents } from './service.ts';
import { NewerVersion, refuseNewer } from './wire/newer-version.ts';

/** Everything that can happen to a code, an account, or the service as a whole. */
export type DomainEvent = CodeEvent | AccountEvent | ServiceEvent;
/** An event of a deleted account: what is left of it is its place in the log, its type and its time. */
export interface ErasedEvent {
  type: 'erased';
  /** The type that it had. */
  data: { type: string };
}
/** What is read from the log. */
export type StoredEvent = DomainEvent | ErasedEvent;
/** What happens to something that exists. */
export type ChangeEvent = CodeChanged | AccountEvent | ServiceEvent;
/** What current state is made from. */
export type AppliedEvent = AppliedCodeEvent | Pending<AccountEvent | ServiceEvent | ErasedEvent>;

/** The schema number under which an event without its data is stored, whatever its type. */
export const erasedSchema = 0;

const catalogue: ReadonlyMap<string, EventDefinition> = new Map(
  Object.entries({ ...codeEvents, ...accountEvents, ...serviceEvents }),
);

/** The schema number to store `event` under; throws where its data does not match its type. */
export function schemaOf(event: DomainEvent): number {
  const definition = catalogue.get(event.type);
  if (definition === undefined) throw new Error(`There is no event of type ${event.type}`);
  if (!definition.matches(event.data))
    throw new Error(`${event.type} does not match its schema: ${definition.mismatch(event.data)}`);
  return definition.schema;
}

/** What was stored, in today's shape; throws `NewerVersion` for a type or schema that this process does not know. */
export function upcast(type: string, schema: number, data: unknown): StoredEvent {
  const definition = catalogue.get(type);
  if (definition === undefined) throw new NewerVersion(`An event of the unknown type ${type}`);
  if (schema === erasedSchema && isEmpty(data)) return { type: 'erased', data: { type } };
  refuseNewer(`An event of type ${type}`, schema, definition.schema);
  let current = data;
  for (let number = schema; number < definition.schema; number++) {
    const next = definition.upcasters[number];
    if (next === undefined) throw new Error(`${type} of schema ${number} has no way to ${number + 1}`);
    current = next(current as Record<string, unknown>);
  }
  if (!definition.matches(current))
    throw new Error(`${type} of schema ${schema} cannot be read: ${definition.mismatch(current)}`);
  return { type, data: current } as DomainEvent;
}

const isEmpty = (data: unknown) => typeof data === 'object' && data !== null && Object.keys(data).length === 0;

export const isCodeEvent = <E extends { type: string }>(event: E): event is E & CodeEvent =>
  Object.hasOwn(codeEvents, event.type);
