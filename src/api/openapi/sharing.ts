/** A response, parameter or header of the document, as plain JSON. */
type Part = Record<string, unknown>;
type Kind = 'responses' | 'parameters' | 'headers';

interface OperationPart {
  parameters?: Part[];
  responses: Record<string, Part & { headers?: Record<string, Part> }>;
}

export interface GeneratedDocument {
  paths: Record<string, Record<string, OperationPart>>;
  components: Record<string, unknown>;
}

/**
 * Moves responses, parameters and headers that occur more than once into `components`, and refers to them. What an operation
 * says stays the same; the document has a third of the size.
 */
export function shareParts(document: GeneratedDocument): GeneratedDocument {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const headers = new SharedParts('headers');
  const parameters = new SharedParts('parameters');
  const responses = new SharedParts('responses');
  const eachResponse = (visit: (status: string, response: OperationPart['responses'][string]) => Part) => {
    for (const operation of operations)
      operation.responses = Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => [status, visit(status, response)]),
      );
  };
  // Headers first: responses with the same headers are equal only after that.
  for (const { responses: all } of operations)
    for (const { headers: own = {} } of Object.values(all))
      for (const [name, header] of Object.entries(own)) headers.count(name, header);
  eachResponse((_, { headers: own, ...response }) =>
    own === undefined
      ? response
      : {
          ...response,
          headers: Object.fromEntries(Object.entries(own).map(([name, header]) => [name, headers.share(name, header)])),
        },
  );
  for (const operation of operations) {
    for (const parameter of operation.parameters ?? []) parameters.count(nameOf(parameter), parameter);
    for (const [status, response] of Object.entries(operation.responses))
      responses.count(responseName(status), response);
  }
  eachResponse((status, response) => responses.share(responseName(status), response));
  for (const operation of operations)
    if (operation.parameters !== undefined)
      operation.parameters = operation.parameters.map((parameter) => parameters.share(nameOf(parameter), parameter));
  const shared = { headers: headers.shared, parameters: parameters.shared, responses: responses.shared };
  return { ...document, components: { ...document.components, ...shared } };
}

const responseName = (status: string) => `${Number(status) < 400 ? 'Success' : 'Error'}${status}`;
const nameOf = (parameter: Part) => String(parameter['name']);

/** Parts of one kind, told apart by their content. */
class SharedParts {
  readonly shared: Record<string, Part> = {};
  readonly #kind: Kind;
  readonly #counts = new Map<string, number>();
  readonly #names = new Map<string, string>();

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  count(name: string, part: Part): void {
    const key = keyOf(name, part);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** A reference to the part under its name, or under the name and a number if another part has that; a single part stays. */
  share(name: string, part: Part): Part {
    const key = keyOf(name, part);
    if ((this.#counts.get(key) ?? 0) < 2) return part;
    const known = this.#names.get(key) ?? this.#newName(name);
    this.#names.set(key, known);
    this.shared[known] = part;
    return { $ref: `#/components/${this.#kind}/${known}` };
  }

  #newName(name: string): string {
    let unused = name;
    for (let n = 2; unused in this.shared; n++) unused = `${name}.${n}`;
    return unused;
  }
}

const keyOf = (name: string, part: Part) => `${name} ${JSON.stringify(part)}`;
