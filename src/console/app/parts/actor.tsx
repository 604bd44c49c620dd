interface Props {
  /** `key_…`, `usr_…`, `operator` or `scanlog`. */
  id: string;
  /** The present name of the key or person; null if it has none. */
  name: string | null;
}

/** Who did something; the id is in the tooltip. */
export const Actor = ({ id, name }: Props) => (
  <span title={id} dir="auto">
    {actorName(id, name)}
  </span>
);

/** In the middle of a sentence, after "by". */
export function actorName(id: string, name: string | null): string {
  if (name !== null) return name;
  if (id === 'operator') return 'the operator';
  if (id === 'scanlog') return 'the service';
  return id.startsWith('usr_') ? 'a former member' : `key ${id}`;
}
