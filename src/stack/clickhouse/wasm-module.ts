import { readFile } from 'node:fs/promises';
import { withPauseBetweenNotifications } from './wasm-notify.ts';

type Imports = Bun.WebAssembly.Imports;

interface ModuleOptions {
  instantiateWasm?(imports: Imports, done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void): void;
}

/** The part of an Emscripten module that is used here. */
interface EmscriptenModule {
  ccall(name: string, returns: string | null, types: string[], values: unknown[], options?: object): unknown;
  _malloc(bytes: number): number;
  _free(address: number): void;
}

/** Emscripten's function that reports the total memory to the engine. The keys of imports are minified, its name is not. */
const totalMemoryFunction = '_emscripten_get_heap_max';
/** More than the engine ever counts. */
const unlimitedBytes = 1n << 50n;
/** Longer texts are not passed on the stack. */
const maxStackText = 64 * 1024;

/**
 * Loads the engine with a fix for its memory accounting: it counts about 0.33 MB per query that is already free again, and
 * after a few thousand queries it would refuse all of them as out of memory. Here it sees a total of 1 PiB; its actual
 * memory stays limited as before.
 */
export default async function createModule(options: ModuleOptions): Promise<unknown> {
  const inPackage = (file: string) => new URL(file, import.meta.resolve('chdb-wasm'));
  const { default: create } = await import(inPackage('./chdb.mjs').href);
  let memory: WebAssembly.Memory | undefined;
  const instantiateWasm: ModuleOptions['instantiateWasm'] = async (imports, done) => {
    for (const group of Object.values(imports))
      for (const [name, value] of Object.entries(group)) {
        if (typeof value === 'function' && value.name === totalMemoryFunction) group[name] = () => unlimitedBytes;
        if (value instanceof WebAssembly.Memory) memory = value;
      }
    const bytes = await readFile(inPackage('./chdb.wasm'));
    const module = await WebAssembly.compile(withPauseBetweenNotifications(bytes) ?? bytes);
    done(await WebAssembly.instantiate(module, imports), module);
  };
  const loaded: EmscriptenModule = await create({ ...options, instantiateWasm });
  if (memory !== undefined) passLongTexts(loaded, memory);
  return loaded;
}

/**
 * Emscripten copies every text character by character onto a stack of 8 MB: a statement of that size would crash the
 * engine, and one with thousands of rows is slow. Long texts are copied to the heap in one step instead.
 */
function passLongTexts(module: EmscriptenModule, memory: WebAssembly.Memory): void {
  const { ccall } = module;
  const encoder = new TextEncoder();
  module.ccall = (name, returns, types, values, options) => {
    const allocated: number[] = [];
    const passed = values.map((value, i) => {
      if (types[i] !== 'string' || typeof value !== 'string' || value.length < maxStackText) return value;
      const bytes = encoder.encode(`${value}\0`);
      const address = module._malloc(bytes.length);
      if (address === 0) throw new Error('ClickHouse has no memory left for this statement');
      allocated.push(address);
      // Read `buffer` each time: when the memory grows, the previous buffer is detached.
      new Uint8Array(memory.buffer).set(bytes, address);
      return address;
    });
    if (allocated.length === 0) return ccall(name, returns, types, values, options);
    const passedTypes = types.map((type, i) => (passed[i] === values[i] ? type : 'pointer'));
    const call = async () => ccall(name, returns, passedTypes, passed, options);
    return call().finally(() => {
      for (const address of allocated) module._free(address);
    });
  };
}
