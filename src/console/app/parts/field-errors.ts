/** Messages by field. */
export type FieldErrors = Record<string, string>;

/** Whether a field of an error, such as `rules[2].when.countries[0]`, is `parent` or a part of it. */
export const isWithin = (field: string, parent: string): boolean =>
  field.startsWith(parent) && /^(?:$|[.[])/.test(field.slice(parent.length));

const sentences: [RegExp, string][] = [
  [/^must be a list of at least one item/, 'Choose at least one, or remove the condition.'],
  [/^must have at least one condition/, 'Add a condition: without one, this rule would hide those after it.'],
  [/^(is required|must be an absolute URL)/, 'Enter the address of a web page, such as https://example.com/menu.'],
  [/^cannot be combined with set\./, 'Replace a text, or set a new destination, but not both.'],
  [/^must be after from/, 'The end must be after the beginning.'],
  [/^must be after starts_at/, 'The end must be after the start.'],
  [/^must be before expires_at/, 'The start must be before the end.'],
  [/^must differ from from/, 'Beginning and end must differ. For the whole day, remove the condition.'],
];

/** A message of the service about a field, without the path of the field, which the user does not see. */
function shortMessage(field: string, message: string): string {
  if (!message.startsWith(`${field} `)) return message;
  const problem = message.slice(field.length + 1);
  const [, sentence] = sentences.find(([start]) => start.test(problem)) ?? [];
  return sentence ?? problem.replace(/^./, (letter) => letter.toUpperCase());
}

/** The first error of a field or of a part of it, to be shown at the field. */
export function errorAt(errors: FieldErrors, parent: string): string | undefined {
  const found = Object.entries(errors).find(([field]) => isWithin(field, parent));
  return found && shortMessage(...found);
}

/** The error of exactly this field. */
export const errorOf = (errors: FieldErrors, field: string): string | undefined => {
  const message = errors[field];
  return message === undefined ? undefined : shortMessage(field, message);
};
