import { useEffect, useState } from 'preact/hooks';
import { drawSvg } from '../../../qr/svg.ts';
import { api, errorMessage, isSessionError } from '../api.ts';
import { Icon } from '../icons.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { useResource } from '../resource.ts';
import type { ConsoleSession, PhoneLink } from '../types.ts';
import { bootstrap } from '../welcome.ts';

const sizePx = 320;
const pollIntervalMs = 2_000;

const isLoopback = (url: string) => /^(localhost|.*\.localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);

/** The address that a phone can open: the public one, unless that is only for this computer. */
const phoneOrigin = () => (isLoopback(bootstrap.public_url) ? location.origin : bootstrap.public_url);

interface Props {
  /** The sessions before: another one is the phone. */
  known: ConsoleSession[];
  onSignedIn(): Promise<void>;
  onClose(): void;
}

/** Shows a code that signs in a phone once, and says when it did. */
export function PhoneDialog({ known, onSignedIn, onClose }: Props) {
  const [link, setLink] = useState<PhoneLink>();
  const [error, setError] = useState<string>();
  const [secondsLeft, setSecondsLeft] = useState(0);
  const [knownIds] = useState(() => new Set(known.map(({ id }) => id)));
  const sessions = useResource<{ data: ConsoleSession[] }>('/sessions', { refreshIntervalMs: pollIntervalMs });
  const phone = sessions.data?.data.find(({ id }) => !knownIds.has(id));
  const create = async () => {
    setError(undefined);
    try {
      setLink(await api.post<PhoneLink>('/sessions/phone'));
    } catch (problem) {
      if (!isSessionError(problem)) setError(errorMessage(problem));
    }
  };
  useEffect(() => {
    create();
  }, []);
  useEffect(() => {
    if (link === undefined) return undefined;
    const update = () => setSecondsLeft(Math.max(0, Math.ceil((Date.parse(link.expires_at) - Date.now()) / 1000)));
    update();
    const timer = setInterval(update, 1_000);
    return () => clearInterval(timer);
  }, [link]);
  useEffect(() => {
    if (phone !== undefined) onSignedIn();
  }, [phone?.id]);

  return (
    <Dialog title="Sign in my phone" onClose={onClose}>
      {phone !== undefined ? (
        <p class="row nowrap verdict good" role="status">
          <Icon name="check" />
          {phone.browser} on {phone.device} is signed in. If that is not your phone, end its session now.
        </p>
      ) : error !== undefined ? (
        <p class="error" role="alert">
          {error}
        </p>
      ) : isLoopback(phoneOrigin()) ? (
        <p class="row nowrap verdict bad">
          <Icon name="warning" />
          <span>
            Your phone cannot open <code>{phoneOrigin()}</code>, which is an address of this computer only. Open the
            console at an address that your phone can reach; the operator sets it as <code>PUBLIC_URL</code>.
          </span>
        </p>
      ) : (
        <PhoneCode link={link} secondsLeft={secondsLeft} />
      )}
      <div class="row actions">
        {phone === undefined && link !== undefined && secondsLeft === 0 && (
          <button type="button" class="button" onClick={create}>
            <Icon name="refresh" />
            Show a new code
          </button>
        )}
        <button type="button" class="button primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

function PhoneCode({ link, secondsLeft }: { link: PhoneLink | undefined; secondsLeft: number }) {
  const svg = link === undefined ? undefined : drawSvg(`${phoneOrigin()}/console/phone#${link.token}`, {}, sizePx);
  return (
    <>
      <p>
        Scan this code with the camera of your phone to sign in to “{bootstrap.account.name}” there. It works once, for
        2 minutes. Do not show it to others.
      </p>
      <div class="stack phone-code">
        {svg !== undefined && secondsLeft > 0 && (
          <img
            src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
            alt="QR code that signs in your phone"
            width={sizePx}
            height={sizePx}
          />
        )}
      </div>
      <p class="hint" role="timer">
        {link === undefined
          ? 'Preparing the code…'
          : secondsLeft > 0
            ? `Expires in ${Math.floor(secondsLeft / 60)}:${String(secondsLeft % 60).padStart(2, '0')}`
            : 'This code has expired.'}
      </p>
    </>
  );
}
