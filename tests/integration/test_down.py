"""host.sh down takes back all of its own and nothing else. The last of the tests."""
from story import Story


class Down(Story):
    def test_02_a_foreign_project_survives(self):
        pool = "foreign" + self.incus.name
        self.incus.ask("POST", "/1.0/storage-pools", {"name": pool, "driver": "dir", "config": {}}, "default")
        self.incus.ask("POST", "/1.0/instances", {
            "name": "foreign", "type": "container", "profiles": [],
            "source": {"type": "none"},
            "devices": {"root": {"type": "disk", "path": "/", "pool": pool}}}, "default")
        self.renter.rent(mode="no_gpu")
        self.server.stop()
        said = self.incus.host_sh("down")
        self.assertIn("others use it", said)
        self.assertIsNotNone(self.incus.ask("GET", "/1.0/instances/foreign", project="default"))
        self.assertIsNone(self.incus.ask("GET", "/1.0/projects/cardhour", project="default"))
        self.assertIsNone(self.incus.ask("GET", f"/1.0/networks/{self.incus.name}", project="default"))
        self.assertIsNone(self.incus.ask("GET", f"/1.0/storage-pools/{self.incus.name}", project="default"))
        self.incus.ask("DELETE", "/1.0/instances/foreign", project="default")
        self.incus.ask("DELETE", f"/1.0/storage-pools/{pool}", project="default")
        self.incus.host_sh("down")
        self.assertFalse((self.incus.dir / "database").exists())
