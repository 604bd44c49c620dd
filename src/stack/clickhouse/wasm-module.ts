import { readFile } from 'node:fs/promises';

type Imports = Bun.WebAssembly.Imports;

interface ModuleOptions {
  instantiateWasm?(imports: Imports, done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void): void;
}

/** How `chdb-wasm` tells the engine what memory there is in all. */
const tellsMemory = '()=>BigInt(getHeapMax())';
/** More than is ever counted. */
const endless = 1n << 50n;

/**
 * The engine in WebAssembly, which loses count of its memory: with every query it counts a third of a megabyte that is
 * long free again, and after a few thousand of them it would refuse everything, since it takes itself to be full. So it
 * is told that there is no end of memory. What it really has stays as limited as it was.
 */
export default async function createModule(options: ModuleOptions): Promise<unknown> {
  const inPackage = (file: string) => new URL(file, import.meta.resolve('chdb-wasm'));
  const { default: create } = await import(inPackage('./chdb.mjs').href);
  const instantiateWasm: ModuleOptions['instantiateWasm'] = async (imports, done) => {
    for (const group of Object.values(imports))
      for (const [name, value] of Object.entries(group)) if (String(value) === tellsMemory) group[name] = () => endless;
    const module = await WebAssembly.compile(await readFile(inPackage('./chdb.wasm')));
    done(await WebAssembly.instantiate(module, imports), module);
  };
  return create({ ...options, instantiateWasm });
}
