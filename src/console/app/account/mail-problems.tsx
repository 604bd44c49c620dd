import type { Alert, Report } from '../types.ts';

/** Who gets no mail of a report or alert, and why. */
export const MailProblems = ({
  of: { unsubscribed, undelivered },
}: {
  of: Pick<Alert | Report, 'unsubscribed' | 'undelivered'>;
}) => (
  <>
    {unsubscribed.length > 0 && <p class="hint">Unsubscribed: {unsubscribed.join(', ')}</p>}
    {undelivered.map(({ email, message }) => (
      <p key={email} class="error">
        Not delivered to {email}: {message}
      </p>
    ))}
  </>
);
