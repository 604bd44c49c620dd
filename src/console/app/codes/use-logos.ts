import { useState } from 'preact/hooks';
import { api, errorMessage } from '../api.ts';
import { useResource } from '../resource.ts';
import type { Logo, Page } from '../types.ts';
import { loadImage } from './logo-image.ts';

interface PickedFile {
  file: File;
  image: HTMLImageElement;
}

/** The logos of the account, and the upload of another one, which `onUploaded` gets. */
export function useLogos(onUploaded: (id: string) => void) {
  const { data, reload } = useResource<Page<Logo>>('/logos', { query: { limit: 100 } });
  const [picked, setPicked] = useState<PickedFile>();
  const [error, setError] = useState<string>();

  const upload = async (file: Blob) => {
    const { id } = await api.upload<Logo>('/logos', file);
    await reload();
    setPicked(undefined);
    onUploaded(id);
  };
  const pick = async (file: File) => {
    setError(undefined);
    try {
      // An SVG stays as it is: cropping would turn it into pixels.
      if (file.type === 'image/svg+xml') await upload(file);
      else setPicked({ file, image: await loadImage(file) });
    } catch (failure) {
      setError(errorMessage(failure));
    }
  };
  return { logos: data?.data ?? [], picked, error, pick, upload, cancel: () => setPicked(undefined) };
}
