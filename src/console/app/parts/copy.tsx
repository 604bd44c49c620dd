import { useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import { toast } from './toast.tsx';

/** Uses the clipboard API, which browsers provide on HTTPS and localhost only; elsewhere falls back to `execCommand`. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  // While a modal dialog is open, only its own content can be selected.
  const parent = document.querySelector('dialog[open]') ?? document.body;
  parent.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  if (!copied) throw new Error('the browser refused to copy');
}

export function Copy({ text, label, children }: { text: string; label: string; children?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await copyText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    } catch {
      toast('Your browser blocked copying. Select the text and copy it manually.', 'failed');
    }
  };
  return (
    <button
      type="button"
      class={children === undefined ? 'plain' : 'button'}
      aria-label={label}
      title={label}
      onClick={copy}
    >
      <Icon name={copied ? 'check' : 'copy'} />
      {children !== undefined && <span>{copied ? 'Copied' : children}</span>}
    </button>
  );
}
