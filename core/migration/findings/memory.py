"""Where the shared memory of the new cluster can come from: huge pages, or the other memory of the new server.

A server takes its whole shared memory from huge pages of one size, or none of it. Source: PostgreSQL's manual, chapter
Linux Huge Pages, and huge_pages and huge_page_size in chapter Resource Consumption.
"""

from core.facts.model import HugePages, Memory


def huge_pages_of_size(memory: Memory, size_bytes: int) -> HugePages:
    """Return the huge pages of a host that a server can use.

    Args:
        memory: the memory of the host.
        size_bytes: huge_page_size; 0 for the default size of the host.
    """
    size = size_bytes or memory.huge_page_bytes or 0
    found = next((each for each in _all_huge_pages(memory) if each.size_bytes == size), None)
    return found if found is not None else HugePages(size, 0, 0, 0)


def memory_in_huge_pages(memory: Memory) -> int:
    """Return the bytes that are reserved for huge pages of any size, and so cannot be used for anything else."""
    return sum(each.total_bytes for each in _all_huge_pages(memory))


def takes_huge_pages(setting: str | None, shared: int, there: HugePages) -> bool:
    """Return whether a server with this setting of huge_pages would surely get its shared memory from these.

    Surplus pages do not count: the kernel may refuse to make them. See Documentation/admin-guide/mm/hugetlbpage.rst.
    """
    return setting in ("on", "try") and there.available_bytes >= shared


def takes_surplus_pages(setting: str | None, shared: int, there: HugePages) -> bool:
    """Return whether it would get its shared memory from these only together with surplus pages."""
    reachable = there.available_bytes + there.surplus_bytes
    return setting in ("on", "try") and there.available_bytes < shared <= reachable


def _all_huge_pages(memory: Memory) -> tuple[HugePages, ...]:
    """Return the huge pages by size; earlier facts only contain the total of the default size, so all count as free."""
    if memory.huge_pages or not memory.huge_pages_total or memory.huge_page_bytes is None:
        return memory.huge_pages
    return (HugePages(memory.huge_page_bytes, memory.huge_pages_total, memory.huge_pages_total, 0),)
