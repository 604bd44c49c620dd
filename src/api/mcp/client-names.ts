import { clientName } from '../../../events/actor.ts';
import { newId } from '../../lib/ids.ts';

/** For clients that do not name themselves. */
const unnamed = 'mcp';

const sessionHeader = 'mcp-session-id';

/** Where requests since the revision of 2026-07-28 have the name of the client. */
const clientInfo = 'io.modelcontextprotocol/clientInfo';

/** The parts of a message that name the client. */
interface Message {
  method?: unknown;
  params?: { clientInfo?: { name?: unknown }; _meta?: Record<string, { name?: unknown } | undefined> };
}

/**
 * The client that sent a message. Since 2026-07-28 every request names it. Before, only the first one does, so the response to that
 * has a session id with the name in it, which the client sends with all others. Thus no instance has to remember anything.
 */
export function clientOf(headers: Headers, message: Message): string {
  const { clientInfo: first, _meta: meta } = message.params ?? {};
  const given = meta?.[clientInfo]?.name ?? first?.name;
  const inSession = headers.get(sessionHeader)?.split('/')[0];
  return (typeof given === 'string' ? clientName(given) : undefined) ?? clientName(inSession ?? '') ?? unnamed;
}

/** The header that makes a client send its name with each further request; none for messages other than the first. */
export function sessionOf(client: string, { method }: Message): Record<string, string> {
  return method === 'initialize' ? { [sessionHeader]: `${client}/${newId('req', Date.now())}` } : {};
}
