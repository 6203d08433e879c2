import { clusterIPFamily } from './services.ts';
import type { AddressType, Service } from './types.ts';

/**
 * The address types that a service has slices of (ES-11..13), IPv4 first. One without families and without
 * cluster IP gets both, as upstream's getAddressTypesForService.
 */
export function addressTypesOf(service: Service): readonly AddressType[] {
  const families = service.spec?.ipFamilies ?? [];
  const asked = addressTypes.filter((type) => families.includes(type));
  if (asked.length > 0) return asked;
  const family = clusterIPFamily(service);
  return family ? [family] : addressTypes;
}

const addressTypes: readonly AddressType[] = ['IPv4', 'IPv6'];
