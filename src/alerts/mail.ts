import type { AlertOutcomeEvent } from '../../events/alert.ts';
import type { Pending } from '../../events/recorded.ts';
import { mailKeyOf, subscribedRecipients, unsubscribingOf } from '../accounts/mail-recipients.ts';
import { mailBody } from '../mail/body.ts';
import type { Outbox } from '../mail/outbox.ts';
import type { AlertTexts } from '../texts/texts.ts';
import type { MailOutcome } from './alerts.ts';
import { AlertWriter } from './words.ts';

/** A mail lists this many findings; further ones are only counted. */
const maxNamed = 20;

/**
 * Mails what a check has found to each recipient: one mail for all of it, so that a city without network does not fill mailboxes. A
 * full outbox drops it, since the feed, webhooks and the console have it as well.
 */
export const alertMailer =
  (mail: Outbox, publicUrl: string): MailOutcome =>
  async (tx, alert, events) => {
    const [first] = events;
    if (first === undefined) return;
    const { id, account, name, language } = alert;
    const writer = new AlertWriter(alert, publicUrl);
    const { texts } = writer;
    const count = events.length;
    const content = {
      language,
      heading: count > 1 ? name : first.data.title,
      paragraphs: [
        ...events.slice(0, maxNamed).map((event) => paragraphOf(event, texts)),
        ...(count > maxNamed ? [texts.more(writer.number(count - maxNamed))] : []),
      ],
      action:
        count === 1
          ? { label: texts.showMore, url: first.data.link }
          : { label: texts.showAll, url: writer.link('/account/alerts') },
      reason: texts.reason(name),
    };
    const subject = count > 1 ? texts.changes(name, writer.number(count)) : subjectOf(first, texts);
    for (const recipient of await subscribedRecipients(tx, id)) {
      const { email } = recipient;
      const { url, headers } = unsubscribingOf(recipient, publicUrl);
      const key = `${mailKeyOf(id)}${first.id}/${email.toLowerCase()}`;
      const body = mailBody({ ...content, unsubscribeUrl: url });
      await mail.enqueue(tx, { key, account, to: email, subject, ...body, headers });
    }
  };

const subjectOf = ({ type, data: { title } }: Pending<AlertOutcomeEvent>, { over }: AlertTexts): string =>
  type === 'alert_cleared' ? over(title) : title;

function paragraphOf(event: Pending<AlertOutcomeEvent>, texts: AlertTexts): string {
  const { type, data } = event;
  return type === 'alert_cleared' ? `${subjectOf(event, texts)}. ${data.message}` : data.message;
}
