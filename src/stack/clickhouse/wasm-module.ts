import { readFile } from 'node:fs/promises';

type Imports = Bun.WebAssembly.Imports;

interface ModuleOptions {
  instantiateWasm?(imports: Imports, done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void): void;
}

/** As much of what Emscripten makes as is used here. */
interface EmscriptenModule {
  ccall(name: string, returns: string | null, types: string[], values: unknown[], options?: object): unknown;
  _malloc(bytes: number): number;
  _free(address: number): void;
}

/** How `chdb-wasm` tells the engine what memory there is in all. */
const tellsMemory = '()=>BigInt(getHeapMax())';
/** More than is ever counted. */
const endless = 1n << 50n;
/** Longer ones do not go over the stack. */
const shortText = 64 * 1024;

/**
 * The engine in WebAssembly, which loses count of its memory: with every query it counts a third of a megabyte that is
 * long free again, and after a few thousand of them it would refuse everything, since it takes itself to be full. So it
 * is told that there is no end of memory. What it really has stays as limited as it was.
 */
export default async function createModule(options: ModuleOptions): Promise<unknown> {
  const inPackage = (file: string) => new URL(file, import.meta.resolve('chdb-wasm'));
  const { default: create } = await import(inPackage('./chdb.mjs').href);
  let memory: WebAssembly.Memory | undefined;
  const instantiateWasm: ModuleOptions['instantiateWasm'] = async (imports, done) => {
    for (const group of Object.values(imports))
      for (const [name, value] of Object.entries(group)) {
        if (String(value) === tellsMemory) group[name] = () => endless;
        if (value instanceof WebAssembly.Memory) memory = value;
      }
    const module = await WebAssembly.compile(await readFile(inPackage('./chdb.wasm')));
    done(await WebAssembly.instantiate(module, imports), module);
  };
  const made: EmscriptenModule = await create({ ...options, instantiateWasm });
  if (memory !== undefined) passLongTexts(made, memory);
  return made;
}

/**
 * Emscripten puts every text that it passes on the stack, of 8 MB, letter by letter: a statement of 8 MB would end the
 * engine, and one with thousands of rows in it takes its time. Long ones go to the heap instead, in one piece.
 */
function passLongTexts(module: EmscriptenModule, memory: WebAssembly.Memory): void {
  const { ccall } = module;
  const encoder = new TextEncoder();
  module.ccall = (name, returns, types, values, options) => {
    const lent: number[] = [];
    const passed = values.map((value, i) => {
      if (types[i] !== 'string' || typeof value !== 'string' || value.length < shortText) return value;
      const bytes = encoder.encode(`${value}\0`);
      const address = module._malloc(bytes.length);
      if (address === 0) throw new Error('ClickHouse has no memory left for this statement');
      lent.push(address);
      // Looked up each time: the memory grows, and what was its buffer before ends too early.
      new Uint8Array(memory.buffer).set(bytes, address);
      return address;
    });
    if (lent.length === 0) return ccall(name, returns, types, values, options);
    const as = types.map((type, i) => (passed[i] === values[i] ? type : 'pointer'));
    const call = async () => ccall(name, returns, as, passed, options);
    return call().finally(() => {
      for (const address of lent) module._free(address);
    });
  };
}
