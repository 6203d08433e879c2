/**
 * For `node --import`: the kernel has no IPv6 (boot parameter ipv6.disable=1). Each socket of that family
 * fails as socket(AF_INET6) does then.
 */
import { constants } from 'node:os';

type Bind = (this: object, address: string, port: number, flags?: number) => number;
type Binding = (name: 'tcp_wrap') => { readonly TCP: { readonly prototype: { bind6: Bind } } };

const { TCP } = (process as unknown as { readonly binding: Binding }).binding('tcp_wrap');
TCP.prototype.bind6 = () => -constants.errno.EAFNOSUPPORT;
