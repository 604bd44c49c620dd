import type { AlertOutcomeEvent } from '../../events/alert.ts';
import type { Pending } from '../../events/recorded.ts';
import { mailBody } from '../mail/body.ts';
import type { Outbox } from '../mail/outbox.ts';
import type { MailOutcome } from './alerts.ts';
import { consoleUrl } from './words.ts';

/** A mail lists this many findings; further ones are only counted. */
const maxNamed = 20;

/**
 * Mails what a check has found to each recipient: one mail for all of it, so that a city without network does not fill mailboxes. A
 * full outbox drops it, since the feed, webhooks and the console have it as well.
 */
export const alertMailer =
  (mail: Outbox, publicUrl: string): MailOutcome =>
  async (tx, { account, mode, name, to }, events) => {
    const [first] = events;
    if (first === undefined) return;
    const { subject, heading } = titlesOf(first, events.length, name);
    const page = consoleUrl(publicUrl, mode, '/account/alerts');
    const body = mailBody({
      heading,
      paragraphs: [
        ...events.slice(0, maxNamed).map(paragraphOf),
        ...(events.length > maxNamed ? [`And ${events.length - maxNamed} more.`] : []),
      ],
      action: events.length === 1 ? { label: 'Show more', url: first.data.link } : { label: 'Show all', url: page },
      reason: `You get this mail because your address was added to the alert “${name}”. Its page has a list of addresses, from which you can be removed: ${page}`,
    });
    for (const email of to)
      await mail.enqueue(tx, { key: `alert/${first.id}/${email.toLowerCase()}`, account, to: email, subject, ...body });
  };

function titlesOf({ type, data }: Pending<AlertOutcomeEvent>, count: number, name: string) {
  if (count > 1) return { subject: `${name}: ${count} changes`, heading: name };
  return { subject: type === 'alert_cleared' ? `Over: ${data.title}` : data.title, heading: data.title };
}

const paragraphOf = ({ type, data }: Pending<AlertOutcomeEvent>): string =>
  type === 'alert_cleared' ? `Over: ${data.title}. ${data.message}` : data.message;
