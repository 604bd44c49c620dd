import { Icon } from './icons.tsx';
import { unknownParameters } from './parameters.ts';
import { urlWith, useRoute } from './router.ts';

const maxNameLength = 40;
const quoted = (name: string) => `“${name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name}”`;

/** Says which parameters of the URL have no effect: a link with a typing error would otherwise show other figures unnoticed. */
export function UnknownParameters() {
  const { path, query } = useRoute();
  const names = unknownParameters(path, query);
  if (names.length === 0) return null;
  const one = names.length === 1;
  return (
    <p class="row verdict bad unknown-parameters" role="status">
      <Icon name="warning" />
      <span class="wrapped">
        {one ? 'A parameter' : 'Parameters'} of this URL {one ? 'has' : 'have'} no effect on this page:{' '}
        {names.map(quoted).join(', ')}.
      </span>
      <a href={urlWith(Object.fromEntries(names.map((name) => [name, undefined])))}>Remove {one ? 'it' : 'them'}</a>
    </p>
  );
}
