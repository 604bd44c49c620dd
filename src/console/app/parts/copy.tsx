import { useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import { toast } from './toast.tsx';

/** Outside of https and localhost, browsers have no clipboard for scripts; the old way works everywhere. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  // In an open dialog, only what is inside of it can be selected.
  const parent = document.querySelector('dialog[open]') ?? document.body;
  parent.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  if (!copied) throw new Error('not copied');
}

export function Copy({ text, label, children }: { text: string; label: string; children?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await copyText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    } catch {
      toast('Your browser did not allow copying. Select the text and copy it yourself.', 'failed');
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
