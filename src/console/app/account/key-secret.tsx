import type { ComponentChildren } from 'preact';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';

interface Props {
  title: string;
  secret: string;
  onClose(): void;
  children?: ComponentChildren;
}

/** Shows the secret of a new key, once. */
export const KeySecret = ({ title, secret, onClose, children }: Props) => (
  <Dialog title={title} staysOpen>
    <p>Copy this key now. You cannot see it again after you close this dialog.</p>
    <code class="block">{secret}</code>
    {children}
    <div class="row actions">
      <Copy text={secret} label="Copy API key">
        Copy
      </Copy>
      <button type="button" class="button primary" onClick={onClose}>
        Done
      </button>
    </div>
  </Dialog>
);
