// The identity document of an instance, as src/guest reads it.
#pragma once

#include <string>

#include "adapters/incus/incus_client.h"
#include "base/id.h"
#include "base/secret.h"
#include "ports/engine.h"

namespace cardhour {

// {"instance","hostname","guest_url","token","authorized_keys","password","host_key":{...}}
Secret identity_json(const InstanceId& id, const std::string& guest_url,
                     const GuestIdentity& identity);

// Puts the document at /var/lib/cardhour/identity.json, readable by root only; the guest
// applies it at each boot.
Status push_identity(IncusClient& client, const InstanceId& id, const Secret& document);

}  // namespace cardhour
