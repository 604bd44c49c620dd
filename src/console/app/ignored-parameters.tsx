import { Icon } from './icons.tsx';
import { type IgnoredParameter, ignoredParameters } from './parameters.ts';
import { urlWith, useRoute } from './router.ts';

const maxTextLength = 40;

/** As it is in the URL: “periode”, or “period=7x” of a value that the page does not know. */
function quoted({ name, value }: IgnoredParameter): string {
  const text = value === undefined ? name : `${name}=${value}`;
  return `“${text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text}”`;
}

/** Says which parameters of the URL have no effect: a link with a typing error would otherwise show other figures unnoticed. */
export function IgnoredParameters() {
  const { path, query } = useRoute();
  const ignored = ignoredParameters(path, query);
  if (ignored.length === 0) return null;
  const one = ignored.length === 1;
  return (
    <p class="row nowrap verdict bad ignored-parameters" role="status">
      <Icon name="warning" />
      <span class="wrapped">
        {one ? 'A parameter' : 'Parameters'} of this URL {one ? 'has' : 'have'} no effect on this page:{' '}
        {ignored.map(quoted).join(', ')}.{' '}
        <a href={urlWith(Object.fromEntries(ignored.map(({ name }) => [name, undefined])))}>
          Remove {one ? 'it' : 'them'}
        </a>
      </span>
    </p>
  );
}
