import { startProxy, type TcpProxy, type Which } from './proxy.ts';

/** One proxy per server of a cluster; a fault of one connection picks a server at random. */
export type ProxyGroup = Omit<TcpProxy, 'switchTo'>;

/** The group's `url` lists all proxies, separated by commas. */
export async function startProxyGroup(urls: string[]): Promise<ProxyGroup> {
  const proxies = await Promise.all(urls.map(startProxy));
  const chosen = (which: Which): TcpProxy[] => {
    const used = proxies.filter((proxy) => proxy.connections() > 0);
    return which === 'all' ? used : used.splice(Math.floor(Math.random() * used.length), 1);
  };
  const forEach = (which: Which, action: (proxy: TcpProxy) => void) => {
    for (const proxy of chosen(which)) action(proxy);
  };
  const all = async (action: (proxy: TcpProxy) => Promise<void>) => void (await Promise.all(proxies.map(action)));
  return {
    url: proxies.map(({ url }) => url).join(','),
    connections: () => proxies.reduce((sum, proxy) => sum + proxy.connections(), 0),
    reset: (which) => forEach(which, (proxy) => proxy.reset(which)),
    resetInMessage: (which) => forEach(which, (proxy) => proxy.resetInMessage(which)),
    halfClose: (which, side) => forEach(which, (proxy) => proxy.halfClose(which, side)),
    stallConnections: (which) => forEach(which, (proxy) => proxy.stallConnections(which)),
    stall: () => proxies.forEach((proxy) => void proxy.stall()),
    delay: (ms) => proxies.forEach((proxy) => void proxy.delay(ms)),
    cut: () => all((proxy) => proxy.cut()),
    restore: () => all((proxy) => proxy.restore()),
    close: () => all((proxy) => proxy.close()),
  };
}
