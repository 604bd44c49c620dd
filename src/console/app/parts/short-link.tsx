import { displayUrl } from '../format.ts';

/** A short link on one line: where it does not fit, its host is clipped, which all links have in common. */
export function ShortLink({ url }: { url: string }) {
  const text = displayUrl(url);
  const code = text.lastIndexOf('/');
  return (
    <span class="row nowrap gap-none short-link">
      <span class="clip">{text.slice(0, code)}</span>
      <span class="clip">{text.slice(code)}</span>
    </span>
  );
}
